import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { type ServerResponse } from 'node:http';

type Body = Readonly<Record<string, unknown>>;

/** How an ordinary answer ends early or never, by what was said last. */
export const ENDLESS = 'ENDLESS';

/**
 * The words of the last message again, one chunk each; `FLOOD:n` is n chunks of a
 * kilobyte, `ENDLESS` one chunk and silence.
 */
export async function answerText(
  body: Body,
  chat: boolean,
  response: ServerResponse,
): Promise<void> {
  const said = lastWords(body);
  if (body.stream !== true) {
    if (said === ENDLESS) return;
    return void response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify(whole(body, chat)));
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const closed = new Promise(resolve => response.once('close', resolve));
  for (const chunk of chunksOf(body, chat)) {
    if (response.destroyed) return;
    const more = response.write(`data: ${JSON.stringify(chunk)}\n\n`);
    if (said === ENDLESS) return;
    if (!more) await Promise.race([once(response, 'drain'), closed]);
  }
  response.end('data: [DONE]\n\n');
}

/**
 * A vector of three numbers per input, in the encoding that was asked for; in reversed
 * order, as `index` allows.
 */
export function embeddingsOf(body: Body): object {
  const inputs = Array.isArray(body.input) ? (body.input as unknown[]) : [body.input];
  const data = inputs.map((input, index) => {
    const digest = createHash('sha256').update(String(input)).digest();
    const numbers = [0, 1, 2].map(at => Math.fround(digest[at]! / 256));
    const embedding =
      body.encoding_format === 'base64'
        ? Buffer.from(Float32Array.from(numbers).buffer).toString('base64')
        : numbers;
    return { object: 'embedding', index, embedding };
  });
  return {
    object: 'list',
    data: data.reverse(),
    model: body.model,
    usage: { prompt_tokens: 5, total_tokens: 5 },
  };
}

/**
 * The longer a document, the higher its score; the most relevant first, and
 * at most `top_n`.
 */
export function scoresOf(body: Body): object {
  const documents = body.documents as (string | { text: string })[];
  const results = documents.map((document, index) => {
    const { length } = typeof document === 'string' ? document : document.text;
    return { index, relevance_score: length / (1 + length) };
  });
  const sorted = results
    .sort((a, b) => b.relevance_score - a.relevance_score)
    .slice(0, body.top_n as number);
  return {
    model: body.model,
    results: sorted,
    usage: { prompt_tokens: 7, total_tokens: 7 },
  };
}

function lastWords({ messages, prompt }: Body): string {
  const last = Array.isArray(messages)
    ? (messages.at(-1) as { content?: unknown }).content
    : prompt;
  return String(last);
}

const headOf = ({ model }: Body, object: string) => ({
  id: 'up-1',
  object,
  created: 1,
  model,
  system_fingerprint: 'f',
});
const usage = {
  prompt_tokens: 3,
  completion_tokens: 2,
  total_tokens: 5,
  prompt_tokens_details: { cached_tokens: 1 },
};

function* chunksOf(body: Body, chat: boolean): Generator<object> {
  const head = headOf(body, chat ? 'chat.completion.chunk' : 'text_completion');
  const flood = /^FLOOD:(\d+)$/.exec(lastWords(body));
  const words = flood
    ? Array.from({ length: Number(flood[1]) }, () => 'x'.repeat(1024))
    : lastWords(body).split(' ');
  for (const [at, word] of words.entries()) {
    const text = at === 0 ? word : ` ${word}`;
    const choice = chat
      ? { delta: { ...(at === 0 && { role: 'assistant' }), content: text } }
      : { text };
    yield { ...head, choices: [{ index: 0, ...choice, finish_reason: null }] };
  }
  yield {
    ...head,
    choices: [{ index: 0, ...(chat ? { delta: {} } : { text: '' }), finish_reason: 'stop' }],
  };
  const { include_usage } = (body.stream_options ?? {}) as { include_usage?: boolean };
  if (include_usage) yield { ...head, choices: [], usage };
}

function whole(body: Body, chat: boolean): object {
  const text = lastWords(body);
  const choice = chat ? { message: { role: 'assistant', content: text } } : { text };
  return {
    ...headOf(body, chat ? 'chat.completion' : 'text_completion'),
    choices: [{ index: 0, ...choice, finish_reason: 'stop' }],
    usage,
  };
}

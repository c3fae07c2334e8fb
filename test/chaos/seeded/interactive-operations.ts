import { formOf } from '../../support/form-of.js';
import { type Entry } from './ledger.js';
import { heardInFile, saidTo } from './models.js';
import { expectSame, type Operation, opened, type Turn, uniqueWords } from './operation.js';
import { type Answer, type Sent, type TenantClient } from './tenant-client.js';

/** A request whose answer is known. */
export interface Question {
  readonly path: string;
  readonly sent: Sent;
  readonly answer: string;
  /** The text in the body of a whole answer. */
  textIn(body: string): string | undefined;
}

const PRIORITIES = ['realtime', 'batch'] as const;

const headersOf = ({ id, random }: Turn): Record<string, string> => ({
  'x-request-id': id,
  'x-priority': PRIORITIES[Math.floor(random() * 2)]!,
  ...(random() < 0.5 && { 'idempotency-key': id }),
});

export function transcriptQuestion(turn: Turn): Question {
  const content = `audio of ${uniqueWords(turn)}`;
  const form = formOf({ model: 'synthetic' }, content, 'clip.wav');
  return {
    path: '/v1/audio/transcriptions',
    sent: { method: 'POST', headers: headersOf(turn), body: form },
    answer: heardInFile(content),
    textIn: body => (parsed(body) as { text?: string } | undefined)?.text,
  };
}

export function chatQuestion(
  turn: Turn,
  model: 'synthetic-llm' | 'upstream',
  stream = false,
): Question {
  const content = uniqueWords(turn);
  const tokens = 8 + Math.floor(turn.random() * 17);
  const body = {
    model,
    stream,
    temperature: 0,
    max_tokens: tokens,
    messages: [{ role: 'user', content }],
  };
  return {
    path: '/v1/chat/completions',
    sent: jsonPost(body, headersOf(turn)),
    answer: model === 'upstream' ? content : saidTo(content, tokens),
    textIn: text =>
      (parsed(text) as { choices?: { message?: { content?: string } }[] } | undefined)?.choices?.[0]
        ?.message?.content,
  };
}

export const jsonPost = (body: object, headers: Readonly<Record<string, string>> = {}): Sent => ({
  method: 'POST',
  headers: { 'content-type': 'application/json', ...headers },
  body: JSON.stringify(body),
});

const asked =
  (name: string, question: (turn: Turn) => Question): Operation =>
  async turn => {
    const { path, sent, answer, textIn } = question(turn);
    const { client } = turn;
    const entry = opened(turn, name);
    const got = await client.answered(entry, path, sent);
    if (got) client.ledger.complete(client.tenant);
    if (!got || !expectSame(client.ledger, entry, textIn(got.text) ?? got.text, answer)) return;
    if (
      sent.headers?.['idempotency-key'] &&
      turn.random() < 0.3 &&
      !(await sameAgain(turn, entry, got, path, sent))
    )
      return;
    client.ledger.settle(entry);
  };

/** A key that was answered is answered by the same bytes. */
async function sameAgain(
  { client }: Turn,
  entry: Entry,
  first: Answer,
  path: string,
  sent: Sent,
): Promise<boolean> {
  const again = await client.answered(entry, path, sent);
  if (!again) return false;
  if (again.text === first.text) return true;
  client.ledger.violate(
    'twice',
    entry,
    `one key was answered ${first.text.slice(0, 200)} and ${again.text.slice(0, 200)}`,
  );
  return false;
}

/**
 * A stream that breaks is asked for once more; what it said until then must be the begin
 * of the answer.
 */
const streamed =
  (name: string, model: 'synthetic-llm' | 'upstream'): Operation =>
  async turn => {
    const { path, sent, answer } = chatQuestion(turn, model, true);
    const { client } = turn;
    const entry = opened(turn, name);
    const said = await client.repeated(entry, path, () =>
      oneStream(turn, entry, { path, sent, answer }),
    );
    if (said) client.ledger.complete(client.tenant);
    if (said && expectSame(client.ledger, entry, said.text, answer)) client.ledger.settle(entry);
  };

async function oneStream(
  { client }: Turn,
  entry: Entry,
  { path, sent, answer }: Pick<Question, 'path' | 'sent' | 'answer'>,
): Promise<{ readonly text: string } | undefined | 'broken'> {
  let body = '';
  let broken: unknown;
  const sinceMs = client.ledger.nowMs;
  try {
    const { status, headers, body: stream } = await client.open(path, sent);
    for await (const part of stream!.pipeThrough(new TextDecoderStream())) body += part;
    if (status !== 200)
      return client.mayRepeat(entry, path, { status, headers, text: body }) ? undefined : 'broken';
  } catch (error) {
    // What came is judged all the same.
    broken = error;
  }
  const frames = body
    .split('\n\n')
    .slice(0, -1)
    .map(frame => frame.replace(/^data: /, ''));
  const text = frames.map(deltaIn).join('');
  const hasFailed = body.includes('"error"');
  if (frames.at(-1) === '[DONE]' && !hasFailed) return { text };
  if (broken || !hasFailed)
    client.noteUnanswered(
      `the stream of ${path} of ${client.tenant}`,
      // Its end is missing, perhaps because it could not be stored.
      ...([sinceMs, broken, body === '' || !isStored(client, sent)] as const),
    );
  else client.expectCalm(entry, path, { attempts: 0, status: 500, text: frames.at(-1)! });
  if (answer.startsWith(text)) return undefined;
  client.ledger.violate(
    'wrong',
    entry,
    `the stream began ${JSON.stringify(text)}; wanted ${JSON.stringify(answer)}`,
  );
  return 'broken';
}

/** Gateways that share a database take the id of any request for its key. */
const isStored = ({ options }: TenantClient, { headers }: Sent): boolean =>
  options.isShared || headers?.['idempotency-key'] !== undefined;

function deltaIn(frame: string): string {
  const chunk = parsed(frame) as { choices?: { delta?: { content?: string } }[] } | undefined;
  return chunk?.choices?.[0]?.delta?.content ?? '';
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

export const transcribe = asked('transcription', transcriptQuestion);
export const chat = asked('chat', turn => chatQuestion(turn, 'synthetic-llm'));
export const upstreamChat = asked('upstream chat', turn => chatQuestion(turn, 'upstream'));
export const streamChat = streamed('stream', 'synthetic-llm');
export const streamUpstream = streamed('upstream stream', 'upstream');

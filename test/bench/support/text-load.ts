import { distribution, type Distribution } from './percentiles.js';

/** An OpenAI-compatible server. */
export interface TextServer {
  readonly url: string;
  readonly model: string;
}

export interface TextCaller {
  /** Characters of the prompt, each a token of the generated model. */
  readonly promptLength: number;
  readonly maxTokens: number;
}

export interface Answered {
  readonly text: string;
  readonly promptTokens: number;
  readonly tokens: number;
}

export interface Spent {
  readonly tokens: number;
  readonly firstMs: number;
  /** Milliseconds between two pieces of text. */
  readonly gapsMs: readonly number[];
}

let asked = 0;

/** The ends of the generated model (`</s>`, `<|im_end|>`): an answer is as long as it may be. */
const NO_END = { '2': -100, '4': -100 };

/** Prompts that have nothing in common, not even their beginning: nothing is found in any cache. */
const promptOf = (length: number): string => `${(asked += 1)}:`.padEnd(length, `${asked}abc `);

async function post(url: string, body: object): Promise<Response> {
  const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
  const ask = (): Promise<Response> => fetch(`${url}/v1/completions`, init);
  // A kept connection that the server closed in the same moment: nothing was asked yet.
  return ask().catch(ask);
}

/** One whole completion, of the same text whoever is asked. */
export async function answerOf({ url, model }: TextServer, prompt: string, maxTokens: number): Promise<Answered> {
  const body = { model, prompt, max_tokens: maxTokens, temperature: 0, logit_bias: NO_END };
  const response = await post(url, body);
  if (!response.ok) throw new Error(await response.text());
  const answer = (await response.json()) as {
    readonly choices: readonly { readonly text: string }[];
    readonly usage: { readonly prompt_tokens: number; readonly completion_tokens: number };
  };
  const { prompt_tokens: promptTokens, completion_tokens: tokens } = answer.usage;
  return { text: answer.choices[0]!.text, promptTokens, tokens };
}

/** One streamed completion. */
export async function generate({ url, model }: TextServer, { promptLength, maxTokens }: TextCaller): Promise<Spent> {
  const startMs = performance.now();
  const response = await post(url, {
    ...{ model, prompt: promptOf(promptLength), max_tokens: maxTokens, logit_bias: NO_END },
    // The likeliest token: what else a server cuts off by default makes no difference.
    temperature: 0,
    ...{ stream: true, stream_options: { include_usage: true } },
  });
  if (!response.ok) throw new Error(await response.text());
  const times: number[] = [];
  let tail = '';
  for await (const bytes of response.body!) {
    times.push(performance.now());
    tail = (tail + Buffer.from(bytes).toString()).slice(-2000);
  }
  const tokens = Number(/"completion_tokens":(\d+)/.exec(tail)?.[1] ?? 0);
  if (tokens === 0) throw new Error(`The answer has no usage: ${tail}`);
  const gapsMs = times.slice(1, -1).map((time, at) => time - times[at]!);
  return { tokens, firstMs: (times[0] ?? startMs) - startMs, gapsMs };
}

/** So many callers at a time, each asks again when it is answered, `requests` in all. @returns tokens per second */
export async function throughput(
  server: TextServer,
  callers: number,
  requests: number,
  caller: TextCaller,
): Promise<number> {
  let left = requests;
  let tokens = 0;
  const startMs = performance.now();
  const work = async (): Promise<void> => {
    while (left-- > 0) {
      const spent = await generate(server, caller);
      tokens += spent.tokens;
    }
  };
  await Promise.all(Array.from({ length: callers }, work));
  return (tokens * 1000) / (performance.now() - startMs);
}

/** Callers with short prompts while others come with long ones. @returns what the former met */
export async function mixed(
  server: TextServer,
  { short, long, rounds }: { readonly short: TextCaller; readonly long: TextCaller; readonly rounds: number },
): Promise<{ readonly firstMs: Distribution; readonly gapMs: Distribution }> {
  const spent: Spent[] = [];
  let isOver = false;
  const talk = async (): Promise<void> => {
    for (let round = 0; round < rounds; round++) spent.push(await generate(server, short));
  };
  const read = async (): Promise<void> => {
    while (!isOver) await generate(server, long);
  };
  const readers = [read(), read()];
  await Promise.all([talk(), talk(), talk(), talk()]);
  isOver = true;
  await Promise.all(readers);
  return {
    firstMs: distribution(spent.map(({ firstMs }) => firstMs)),
    gapMs: distribution(spent.flatMap(({ gapsMs }) => gapsMs)),
  };
}

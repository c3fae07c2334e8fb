import { streamedPost } from './streamed-post.js';

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
  /** Of these, found in a memory of earlier requests. */
  readonly cachedTokens: number;
  readonly tokens: number;
}

export interface Spent {
  readonly firstMs: number;
  /** Milliseconds between two pieces of text. */
  readonly gapsMs: readonly number[];
}

export interface MixedLoad {
  readonly short: TextCaller;
  readonly long: TextCaller;
  readonly talkers: number;
  readonly readers: number;
}

const PATH = '/v1/completions';

let asked = 0;

/**
 * The ends of the generated model (`</s>`, `<|im_end|>`) and of SmolLM2 (`<|endoftext|>`,
 * `<|im_end|>`): an answer is as long as it may be.
 */
const NO_END = { '0': -100, '2': -100, '4': -100 };

const FIRST = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789';

/**
 * Unlike the sixty before it from the first letter on, and these fill the memory of a
 * server with 32 rows: nothing to be found there.
 */
export function newPrompt(length: number): string {
  asked += 1;
  return `${FIRST[asked % FIRST.length]}${asked}:`.padEnd(length, `${asked}abc `);
}

/** One whole completion, of the same text whoever is asked. */
export async function answerOf(
  { url, model }: TextServer,
  prompt: string,
  maxTokens: number,
): Promise<Answered> {
  const body = {
    model,
    prompt,
    max_tokens: maxTokens,
    temperature: 0,
    logit_bias: NO_END,
  };
  const headers = { 'content-type': 'application/json', connection: 'close' };
  const response = await fetch(`${url}${PATH}`, {
    method: 'POST',
    headers,
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(await response.text());
  const answer = (await response.json()) as {
    readonly choices: readonly { readonly text: string }[];
    readonly usage: {
      readonly prompt_tokens: number;
      readonly completion_tokens: number;
      readonly prompt_tokens_details: { readonly cached_tokens: number };
    };
  };
  const {
    prompt_tokens: promptTokens,
    completion_tokens: tokens,
    prompt_tokens_details: details,
  } = answer.usage;
  return {
    text: answer.choices[0]!.text,
    promptTokens,
    cachedTokens: details.cached_tokens,
    tokens,
  };
}

/** One streamed completion. */
async function generate(
  { url, model }: TextServer,
  { promptLength, maxTokens }: TextCaller,
): Promise<Spent> {
  const startMs = performance.now();
  const { timesMs, tail } = await streamedPost(`${url}${PATH}`, {
    ...{
      model,
      prompt: newPrompt(promptLength),
      max_tokens: maxTokens,
      logit_bias: NO_END,
    },
    // The likeliest token: what else a server cuts off by default makes no difference.
    temperature: 0,
    ...{ stream: true, stream_options: { include_usage: true } },
  });
  const tokens = Number(/"completion_tokens":(\d+)/.exec(tail)?.[1]);
  if (tokens !== maxTokens) throw new Error(`${maxTokens} tokens were wanted: ${tail}`);
  const gapsMs = timesMs.slice(1, -1).map((time, at) => time - timesMs[at]!);
  return { firstMs: (timesMs[0] ?? startMs) - startMs, gapsMs };
}

export interface Throughput {
  readonly tokensPerS: number;
  /** Milliseconds of each request. */
  readonly requestsMs: readonly number[];
}

/** So many callers at a time, each asks again when it is answered, `requests` in all. */
export async function sustained(
  server: TextServer,
  callers: number,
  requests: number,
  caller: TextCaller,
): Promise<Throughput> {
  let left = requests;
  const requestsMs: number[] = [];
  const startMs = performance.now();
  const work = async (): Promise<void> => {
    while (left-- > 0) {
      const askedMs = performance.now();
      await generate(server, caller);
      requestsMs.push(performance.now() - askedMs);
    }
  };
  await Promise.all(Array.from({ length: callers }, work));
  return {
    tokensPerS: (requests * caller.maxTokens * 1000) / (performance.now() - startMs),
    requestsMs,
  };
}

/** Tokens per second. */
export const throughput = async (...args: Parameters<typeof sustained>): Promise<number> =>
  (await sustained(...args)).tokensPerS;

/**
 * One answer each for callers with short prompts, while others come with long ones.
 * @returns what the former met
 */
export async function mixed(
  server: TextServer,
  { short, long, talkers, readers }: MixedLoad,
): Promise<readonly Spent[]> {
  let isOver = false;
  const read = async (): Promise<void> => {
    while (!isOver) await generate(server, long);
  };
  const reading = Array.from({ length: readers }, read);
  const spent = await Promise.all(Array.from({ length: talkers }, () => generate(server, short)));
  isOver = true;
  await Promise.all(reading);
  return spent;
}

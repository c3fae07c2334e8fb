import { setImmediate as nextTurn } from 'node:timers/promises';
import { writeJson } from '@switchyard/engine-api/exact-numbers.js';
import { type TokenUsage } from '@switchyard/engine-api/text-embedder.js';

const FLOAT_BYTES = 4;

/** Written in one turn of the event loop; then others have theirs. */
const NUMBERS_PER_TURN = 8192;

/** Vectors as lists of numbers, each a piece. */
export async function* writtenVectors(
  vectors: Buffer,
  dimensions: number,
  write = (vector: Buffer): string => `[${numbersOf(vector).join(',')}]`,
): AsyncGenerator<string> {
  const bytes = dimensions * FLOAT_BYTES;
  const perTurn = Math.ceil(NUMBERS_PER_TURN / dimensions);
  for (let begin = 0, at = 0; begin < vectors.length; begin += bytes, at += 1) {
    if (at > 0 && at % perTurn === 0) await nextTurn();
    yield write(vectors.subarray(begin, begin + bytes));
  }
}

/**
 * OpenAI's list of vectors as JSON, piece by piece: two thousand vectors are fifty
 * megabytes of digits.
 */
export async function* embeddingBody(body: {
  /** 32-bit floats, little endian, one vector after another. */
  readonly vectors: Buffer;
  readonly dimensions: number;
  readonly encoding: 'float' | 'base64';
  readonly model: string;
  readonly promptTokens: number;
}): AsyncGenerator<string> {
  const { vectors, dimensions, encoding, model, promptTokens } = body;
  const write =
    encoding === 'base64' ? (vector: Buffer) => `"${vector.toString('base64')}"` : undefined;
  yield '{"object":"list","data":[';
  let index = 0;
  for await (const written of writtenVectors(vectors, dimensions, write)) {
    yield `${index > 0 ? ',' : ''}{"object":"embedding","index":${index},"embedding":${written}}`;
    index += 1;
  }
  const usage = { prompt_tokens: promptTokens, total_tokens: promptTokens };
  yield `],"model":${writeJson(model)},"usage":${writeJson(usage)}}`;
}

function numbersOf(vector: Buffer): string[] {
  const numbers: string[] = [];
  for (let at = 0; at < vector.length; at += FLOAT_BYTES)
    numbers.push(shortest(vector.readFloatLE(at)));
  return numbers;
}

/** The fewest digits that still name this 32-bit number: 0.1, not 0.10000000149011612. */
function shortest(value: number): string {
  if (!Number.isFinite(value)) return 'null';
  for (const digits of [7, 8]) {
    const short = Number(value.toPrecision(digits));
    if (Math.fround(short) === value) return String(short);
  }
  return String(Number(value.toPrecision(9)));
}

/** A token that was drawn, or could have been. */
interface ScoredToken {
  /** UTF-8; may be a part of a character. */
  readonly bytes: Buffer;
  /** Natural logarithm, <= 0. */
  readonly logprob: number;
}

interface DrawnToken extends ScoredToken {
  /** The likeliest at this place. */
  readonly top: readonly ScoredToken[];
  /** Where its text begins, in characters. */
  readonly offset: number;
}

/**
 * OpenAI names a token that is no text by itself after its bytes; else many tokens would
 * have one name.
 */
function nameOf(bytes: Buffer, prefix = ''): string {
  const text = bytes.toString('utf8');
  if (Buffer.from(text).equals(bytes)) return text;
  return prefix + [...bytes].map(byte => `\\x${byte.toString(16).padStart(2, '0')}`).join('');
}

const chatToken = ({ bytes, logprob }: ScoredToken) => ({
  token: nameOf(bytes),
  logprob,
  bytes: [...bytes],
});

/** OpenAI's `choices[].logprobs` of a chat. */
export const chatLogprobs = (tokens: readonly DrawnToken[]): object => ({
  content: tokens.map(token => ({
    ...chatToken(token),
    top_logprobs: token.top.map(chatToken),
  })),
  refusal: null,
});

const completionToken = (bytes: Buffer) => nameOf(bytes, 'bytes:');

/** OpenAI's `choices[].logprobs` of a completion. */
export const completionLogprobs = (tokens: readonly DrawnToken[]): object => ({
  tokens: tokens.map(({ bytes }) => completionToken(bytes)),
  token_logprobs: tokens.map(({ logprob }) => logprob),
  top_logprobs: tokens.map(({ top }) =>
    Object.fromEntries(top.map(({ bytes, logprob }) => [completionToken(bytes), logprob])),
  ),
  text_offset: tokens.map(({ offset }) => offset),
});

/** What all chunks of one answer share. */
export interface GenerationHead {
  /** Whose body it is: that of `/v1/chat/completions` or of `/v1/completions`. */
  readonly form: 'chat' | 'completion';
  /** `chatcmpl-…`, `cmpl-…` */
  readonly id: string;
  /** Unix seconds. */
  readonly created: number;
  readonly model: string;
}

/** A call of a tool that the model wants. */
export interface ToolCallBody {
  readonly id: string;
  readonly type: 'function' | 'custom';
  readonly name: string;
  /** JSON; of a custom tool its text. */
  readonly arguments: string;
}

export interface ChoiceDelta {
  readonly index: number;
  readonly text: string;
  /** What the model thinks before it answers. */
  readonly reasoning?: string;
  /** True for the first chunk of a choice, which names the role of its author. */
  readonly first: boolean;
  readonly finishReason: string | null;
  /** The text of `stop` that ended it: vLLM's `stop_reason`. */
  readonly stoppedBy?: string | undefined;
  /** OpenAI's `logprobs` of the tokens in `text`. */
  readonly logprobs?: object;
  /** Complete calls of tools; `at`: number of calls that this choice had before them. */
  readonly toolCalls?: { readonly at: number; readonly calls: readonly ToolCallBody[] };
  /** Tokens of the answer up to here, after those of the chunk before. */
  readonly tokenIds?: readonly number[];
}

interface WholeChoice {
  readonly text: string;
  readonly reasoning?: string;
  readonly finishReason: string;
  readonly stoppedBy?: string | undefined;
  readonly logprobs?: object;
  readonly toolCalls?: readonly ToolCallBody[];
}

/**
 * `usageNull`: with `stream_options.include_usage` every chunk but the last
 * says `usage: null`.
 */
export function generationChunk(
  head: GenerationHead,
  delta: ChoiceDelta,
  usageNull = false,
): object {
  const { index, text, logprobs = null, tokenIds } = delta;
  const told = head.form === 'chat' ? { delta: chatDelta(delta) } : { text };
  const tokens = tokenIds && { token_ids: tokenIds };
  const choice = { index, ...told, logprobs, ...endOf(delta), ...tokens };
  return {
    ...headFields(head, true),
    choices: [choice],
    ...(usageNull && { usage: null }),
  };
}

const endOf = ({ finishReason, stoppedBy }: Pick<ChoiceDelta, 'finishReason' | 'stoppedBy'>) => ({
  finish_reason: finishReason,
  ...(stoppedBy !== undefined && { stop_reason: stoppedBy }),
});

function chatDelta({ text, reasoning, first, toolCalls }: ChoiceDelta): object {
  const calls = toolCalls?.calls.map((call, index) => ({
    index: toolCalls.at + index,
    ...toolCallFields(call),
  }));
  return {
    ...(first && { role: 'assistant' }),
    ...((text !== '' || first) && { content: text }),
    ...(reasoning && { reasoning_content: reasoning }),
    ...(calls && { tool_calls: calls }),
  };
}

/** The last chunk of a stream with `include_usage`. */
export const usageChunk = (head: GenerationHead, usage: TokenUsage): object => ({
  ...headFields(head, true),
  choices: [],
  usage: usageFields(usage),
});

/** The answer to a request without `stream`. */
export function generationBody(
  head: GenerationHead,
  choices: readonly WholeChoice[],
  usage: TokenUsage,
): object {
  return {
    ...headFields(head, false),
    choices: choices.map((choice, index) => {
      const { text, logprobs = null } = choice;
      const told = head.form === 'chat' ? { message: chatMessage(choice) } : { text };
      return { index, ...told, logprobs, ...endOf(choice) };
    }),
    usage: usageFields(usage),
  };
}

function chatMessage({ text, reasoning, toolCalls = [] }: WholeChoice): object {
  const called = toolCalls.length > 0;
  return {
    role: 'assistant',
    content: called && text === '' ? null : text,
    refusal: null,
    ...(reasoning && { reasoning_content: reasoning.trimEnd() }),
    ...(called && { tool_calls: toolCalls.map(toolCallFields) }),
  };
}

const toolCallFields = ({ id, type, name, arguments: given }: ToolCallBody): object => ({
  id,
  type,
  [type]: type === 'custom' ? { name, input: given } : { name, arguments: given },
});

function usageFields({ promptTokens, completionTokens, cachedTokens }: TokenUsage): object {
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
    prompt_tokens_details: { cached_tokens: cachedTokens },
  };
}

function headFields({ form, id, created, model }: GenerationHead, chunk: boolean): object {
  const object =
    form === 'completion' ? 'text_completion' : chunk ? 'chat.completion.chunk' : 'chat.completion';
  return { id, object, created, model };
}

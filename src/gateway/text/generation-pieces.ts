import { ANSWER_BOUNDS, parseBoundedJson } from '@switchyard/engine-api/bounded-json.js';
import { writeJson } from '@switchyard/engine-api/exact-numbers.js';
import { type Fields, fieldsIn, isObject } from '@switchyard/engine-api/is-object.js';
import { jsonIn } from '@switchyard/engine-api/json-in.js';
import { type ResponseObject } from '../../contracts/openai/responses.js';

/** What a generation says, in order. */
export type GenerationPiece =
  | {
      readonly type: 'text';
      readonly text: string;
      readonly logprobs?: readonly object[];
    }
  | { readonly type: 'reasoning' | 'refusal'; readonly text: string }
  | {
      readonly type: 'tool_call';
      /** Counts the calls of the answer, from 0. */
      readonly index: number;
      /** Given by the first piece of a call. */
      readonly callId?: string;
      readonly name?: string;
      /** A piece of the JSON. */
      readonly arguments: string;
    }
  | {
      readonly type: 'finish';
      /** OpenAI's `finish_reason`. */
      readonly reason: string;
      /** The text of `stop` that ended it. */
      readonly stopSequence?: string;
    }
  | { readonly type: 'usage'; readonly usage: NonNullable<ResponseObject['usage']> };

const textIn = (value: unknown): string => (typeof value === 'string' ? value : '');
const listIn = (value: unknown): readonly Fields[] =>
  Array.isArray(value) ? value.filter(isObject) : [];

/**
 * What an answer of a chat says, whole or a chunk of it. Upstreams send what they like:
 * what has another form than OpenAI's says nothing.
 */
export const piecesOf = (answer: Buffer): readonly GenerationPiece[] => readAnswer(answer).pieces;

/** Undefined: the engine did not count. */
export const usageAmong = (
  pieces: readonly GenerationPiece[],
): ResponseObject['usage'] | undefined => pieces.find(piece => piece.type === 'usage')?.usage;

/**
 * @returns what is said, and the tokens of the answer that a chunk brings with
 *   `return_token_ids`
 */
export function readAnswer(answer: Buffer) {
  const { choices, usage } = fieldsIn(parseBoundedJson(answer.toString('utf8'), ANSWER_BOUNDS));
  const choice = listIn(choices)[0];
  const pieces: readonly GenerationPiece[] = [
    ...(choice ? saidIn(choice) : []),
    ...(isObject(usage) ? [usagePiece(usage)] : []),
  ];
  return { pieces, tokens: (choice?.token_ids ?? []) as readonly number[] };
}

function* saidIn({
  delta,
  message,
  text: completed,
  logprobs,
  finish_reason: reason,
  stop_reason: stop,
}: Fields): Generator<GenerationPiece> {
  const said = fieldsIn(delta ?? message);
  const scored = listIn(fieldsIn(logprobs).content);
  const text = textIn(said.content ?? completed);
  const reasoning = textIn(said.reasoning_content ?? said.reasoning);
  const refusal = textIn(said.refusal);
  if (reasoning !== '') yield { type: 'reasoning', text: reasoning };
  if (text !== '' || scored.length > 0) yield { type: 'text', text, logprobs: scored };
  if (refusal !== '') yield { type: 'refusal', text: refusal };
  for (const [at, call] of listIn(said.tool_calls).entries()) yield callPiece(call, at);
  if (typeof reason === 'string') yield finishPiece(reason, stop);
}

const finishPiece = (reason: string, stop: unknown): GenerationPiece => ({
  type: 'finish',
  reason,
  ...(typeof stop === 'string' && { stopSequence: stop }),
});

/** Calls of a whole answer have no numbers. */
function callPiece({ index, id, function: called }: Fields, at: number): GenerationPiece {
  const { name, arguments: given } = fieldsIn(called);
  return {
    type: 'tool_call',
    index: typeof index === 'number' ? index : at,
    ...(typeof id === 'string' && id !== '' && { callId: id }),
    ...(typeof name === 'string' && { name }),
    arguments: isObject(given) ? writeJson(given) : textIn(given),
  };
}

const countIn = (value: unknown): number =>
  Number.isSafeInteger(value) && Number(value) > 0 ? Number(value) : 0;

function usagePiece(usage: Fields): GenerationPiece {
  const input = countIn(usage.prompt_tokens);
  const output = countIn(usage.completion_tokens);
  const counted = {
    input_tokens: input,
    input_tokens_details: {
      cached_tokens: countIn(fieldsIn(usage.prompt_tokens_details).cached_tokens),
      // No engine here reports what it wrote to a cache; SDKs require the field.
      cache_write_tokens: countIn(fieldsIn(usage.prompt_tokens_details).cache_write_tokens),
    },
    output_tokens: output,
    output_tokens_details: {
      reasoning_tokens: countIn(fieldsIn(usage.completion_tokens_details).reasoning_tokens),
    },
    total_tokens: input + output,
  };
  return { type: 'usage', usage: counted };
}

/** Arguments of a call; of an answer that was cut there is no JSON that can be read. */
export function argumentsIn(json: string): unknown {
  const value = jsonIn(json, ANSWER_BOUNDS);
  return value === undefined ? {} : value;
}

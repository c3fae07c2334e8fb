import { createHash } from 'node:crypto';
import { type TranscriptWord } from '@switchyard/engine-api/speech-recognizer.js';

/** Enough to tell inputs apart, little enough to cost nothing at 25 MB. */
const HASHED_BYTES = 65_536;

/**
 * Says what it is, and depends on all it was given: "synthetic transcript 1f3a9c02 5
 * bytes". Empty audio: no text.
 */
export function syntheticText(
  bytes: Uint8Array,
  conditions: readonly string[] = [],
): string {
  if (bytes.length === 0) return '';
  const hash = createHash('sha256')
    .update(bytes.subarray(0, HASHED_BYTES))
    .update(JSON.stringify(conditions));
  return `synthetic transcript ${hash.digest('hex').slice(0, 8)} ${bytes.length} bytes`;
}

/** The words of the text, each with an equal part of the time. Seconds. */
export function evenlySpread(text: string, start: number, end: number): TranscriptWord[] {
  const words = text === '' ? [] : text.split(' ');
  const each = (end - start) / Math.max(1, words.length);
  return words.map((word, i) => ({
    word,
    start: start + i * each,
    end: start + (i + 1) * each,
    confidence: 0.9,
  }));
}

interface Body {
  readonly continue_token_ids?: readonly number[] | null;
  readonly return_token_ids?: unknown;
  readonly messages?: readonly { readonly content?: unknown }[];
  readonly prompt?: unknown;
  readonly input?: unknown;
  readonly stream_options?: { readonly include_usage?: unknown } | null;
  readonly dimensions?: number;
}

/** As the gateway has checked it. */
export const syntheticBody = (json: Buffer): Body =>
  JSON.parse(json.toString('utf8')) as Body;

/**
 * Words of what was last said: those that the answer is made of, and that count as the
 * tokens of the prompt.
 */
export function promptWords({ messages, prompt }: Body): readonly string[] {
  const content = messages ? messages.at(-1)?.content : prompt;
  const text = typeof content === 'string' ? content : JSON.stringify(content ?? '');
  return text.split(/\s+/).filter(word => word !== '');
}

/**
 * Token number `at` of choice `index`: the prompt's words again and again, each choice
 * beginning one word later.
 */
export function answerToken(words: readonly string[], index: number, at: number): string {
  const word = words.length === 0 ? 'synthetic' : words[(index + at) % words.length];
  return at === 0 ? `${word}` : ` ${word}`;
}

/** The inputs of an embedding request, each as a text. */
export function inputsIn({ input }: Body): readonly string[] {
  const several = Array.isArray(input) && !input.every(item => typeof item === 'number');
  const inputs: readonly unknown[] = several ? input : [input];
  return inputs.map(item => (typeof item === 'string' ? item : JSON.stringify(item)));
}

/** A vector of length 1 in a direction that only the text decides. */
export function vectorOf(text: string, dimensions: number): Float32Array {
  const vector = new Float32Array(dimensions);
  let digest = Buffer.alloc(0);
  for (let at = 0; at < dimensions; at++) {
    if (at % 16 === 0) digest = createHash('sha256').update(`${at}:${text}`).digest();
    vector[at] = digest.readUInt16LE((at % 16) * 2) / 32_767.5 - 1;
  }
  const length = Math.hypot(...vector);
  return vector.map(value => value / length);
}

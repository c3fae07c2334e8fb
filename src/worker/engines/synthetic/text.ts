import { createHash } from 'node:crypto';

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
 * Token number `at` of choice `index`: the prompt's words again and again, each choice
 * beginning one word later.
 */
export function answerToken(words: readonly string[], index: number, at: number): string {
  const word = words.length === 0 ? 'synthetic' : words[(index + at) % words.length];
  return at === 0 ? `${word}` : ` ${word}`;
}

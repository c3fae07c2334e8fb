import { createHash } from 'node:crypto';

interface Body {
  readonly messages?: unknown;
  readonly prompt?: unknown;
  readonly input?: unknown;
  readonly stream_options?: { readonly include_usage?: unknown } | null;
  readonly dimensions?: unknown;
}

export const bodyOf = (json: Buffer): Body => JSON.parse(json.toString('utf8')) as Body;

/** Words of what was last said: those that the answer is made of, and that count as the tokens of the prompt. */
export function promptWords({ messages, prompt }: Body): readonly string[] {
  const last: unknown = Array.isArray(messages)
    ? (messages.at(-1) as { content?: unknown } | undefined)?.content
    : prompt;
  const text = typeof last === 'string' ? last : JSON.stringify(last ?? '');
  return text.split(/\s+/).filter(word => word !== '');
}

/** Token number `at` of choice `index`: the prompt's words again and again, each choice beginning one word later. */
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

/** End of the answer, as the toy model draws it. */
export const TOY_END = 0;

/**
 * A generation of a test: what the scheduler must know, and what the toy model draws by.
 */
export interface ToyRequest {
  readonly priorityClass: number;
  readonly agingShare?: number;
  readonly arrivalMs: number;
  readonly tenant: string;
  readonly tenantWeight?: number;
  readonly salt: string;
  readonly prompt: readonly number[];
  readonly maxTokens: number;
  readonly deadlineMs?: number;
  readonly seed: number;
}

/**
 * The next token: a function of all tokens before it, the seed and the position. About
 * one in 23 ends the answer.
 */
export function toyNext(tokens: readonly number[], seed: number): number {
  let hash = 2166136261 ^ seed ^ (tokens.length << 16);
  for (const token of tokens) hash = Math.imul(hash ^ token, 16777619) >>> 0;
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d) >>> 0;
  return (hash ^ (hash >>> 13)) % 23;
}

/** What the request comes to alone. */
export function soloOutput({ prompt, maxTokens, seed }: ToyRequest): {
  tokens: number[];
  reason: 'stop' | 'length';
} {
  const output: number[] = [];
  while (output.length < maxTokens) {
    const next = toyNext([...prompt, ...output], seed);
    if (next === TOY_END) return { tokens: output, reason: 'stop' };
    output.push(next);
  }
  return { tokens: output, reason: 'length' };
}

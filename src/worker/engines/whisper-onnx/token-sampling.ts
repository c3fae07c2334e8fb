import { logSumExp } from './logit-rules.js';

export interface Sampled {
  readonly token: number;
  /** ln of its probability at temperature 1, as the reference counts it. */
  readonly logprob: number;
}

/** At temperature 0 the likeliest token, else one drawn with `random` (uniform in [0, 1), called once). */
export function sampleToken(logits: Float32Array, temperature: number, random: () => number): Sampled {
  const token = temperature === 0 ? likeliest(logits) : drawn(logits, temperature, random());
  return { token, logprob: Math.min(0, logits[token]! - logSumExp(logits)) };
}

export function likeliest(logits: Float32Array): number {
  let best = 0;
  for (let token = 1; token < logits.length; token++) if (logits[token]! > logits[best]!) best = token;
  return best;
}

function drawn(logits: Float32Array, temperature: number, uniform: number): number {
  const best = likeliest(logits);
  const weight = (token: number): number => Math.exp((logits[token]! - logits[best]!) / temperature);
  let total = 0;
  for (let token = 0; token < logits.length; token++) total += weight(token);
  let left = uniform * total;
  for (let token = 0; token < logits.length; token++) {
    left -= weight(token);
    if (left < 0) return token;
  }
  return best;
}

/** Uniform in [0, 1), the same for the same numbers: the same audio gets the same text, whatever runs beside it. */
export function drawOf(...numbers: readonly number[]): number {
  let hash = 0x9e3779b9;
  for (const number of numbers) {
    hash = Math.imul(hash ^ (Math.round(number) | 0), 0x85ebca6b);
    hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
    hash ^= hash >>> 16;
  }
  return (hash >>> 0) / 2 ** 32;
}

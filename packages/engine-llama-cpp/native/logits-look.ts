import { type Looked, type LookedFor } from './library.js';

/**
 * What node-llama-cpp says of logits: the likeliest token, those asked for, the sum of
 * e^(logit - highest).
 */
export function looked(logits: Float32Array, [tokens, , , , top]: LookedFor[4]): Looked {
  const best = likeliest(logits, Math.max(1, top));
  const [most] = best as [number];
  const highest = logits[most]!;
  const weight = logits.reduce((sum, logit) => sum + Math.exp(logit - highest), 0);
  const told = top > 0 ? best : [...new Set([...tokens, most])];
  return [
    most,
    undefined,
    undefined,
    told.flatMap(token => [token, logits[token]!]),
    weight,
  ];
}

/** The first of equal ones. */
function likeliest(logits: Float32Array, count: number): number[] {
  const best: number[] = [];
  for (let token = 0; token < logits.length; token++) {
    if (best.length === count && logits[token]! <= logits[best.at(-1)!]!) continue;
    const place = best.findIndex(other => logits[other]! < logits[token]!);
    best.splice(place < 0 ? best.length : place, 0, token);
    if (best.length > count) best.pop();
  }
  return best;
}

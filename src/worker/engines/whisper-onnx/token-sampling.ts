/** The numbers that the rules of sampling need; a WhisperVocabulary has them. */
interface RuleTokens {
  readonly endToken: number;
  readonly noTimestamps: number;
  readonly firstTime: number;
  readonly suppressed: readonly number[];
  readonly suppressedFirst: readonly number[];
  readonly latestFirstTime: number | undefined;
}

/**
 * What may come next, as in OpenAI's reference (whisper/decoding.py: SuppressBlank, SuppressTokens,
 * ApplyTimestampRules). Forbidden tokens get −∞ in `logits`, which is changed in place.
 */
export function applyRules(logits: Float32Array, sampled: readonly number[], tokens: RuleTokens): void {
  if (sampled.length === 0) for (const token of tokens.suppressedFirst) logits[token] = -Infinity;
  for (const token of tokens.suppressed) logits[token] = -Infinity;
  logits[tokens.noTimestamps] = -Infinity;
  pairTimes(logits, sampled, tokens);
  if (sampled.length === 0) {
    logits.fill(-Infinity, 0, tokens.firstTime);
    if (tokens.latestFirstTime !== undefined) logits.fill(-Infinity, tokens.firstTime + tokens.latestFirstTime + 1);
  }
  if (timeIsLikelierThanAnyText(logits, tokens.firstTime)) logits.fill(-Infinity, 0, tokens.firstTime);
}

/** Times come in pairs (end, start) but for the first and the last, never go back, and no segment is empty. */
function pairTimes(logits: Float32Array, sampled: readonly number[], { firstTime, endToken }: RuleTokens): void {
  const isTime = (token: number | undefined): boolean => token !== undefined && token >= firstTime;
  const lastWasTime = isTime(sampled.at(-1));
  const oneBeforeWasTime = sampled.length < 2 || isTime(sampled.at(-2));
  if (lastWasTime && oneBeforeWasTime) logits.fill(-Infinity, firstTime);
  if (lastWasTime && !oneBeforeWasTime) logits.fill(-Infinity, 0, endToken);
  const latest = sampled.findLast(isTime);
  if (latest !== undefined) logits.fill(-Infinity, firstTime, lastWasTime && !oneBeforeWasTime ? latest : latest + 1);
}

function timeIsLikelierThanAnyText(logits: Float32Array, firstTime: number): boolean {
  return logSumExp(logits, firstTime) > highestOf(logits, 0, firstTime);
}

/** −∞ of nothing. */
function highestOf(logits: Float32Array, from: number, end = logits.length): number {
  let highest = -Infinity;
  for (let token = from; token < end; token++) {
    const score = logits[token]!;
    if (score > highest) highest = score;
  }
  return highest;
}

/** ln Σ e^x from `from` on; −∞ of nothing. */
export function logSumExp(logits: Float32Array, from = 0): number {
  const highest = highestOf(logits, from);
  if (highest === -Infinity) return -Infinity;
  let sum = 0;
  for (let token = from; token < logits.length; token++) sum += expOf(logits[token]! - highest);
  return highest + Math.log(sum);
}

const LOWEST = -40;
const STEPS = 64 / Math.LN2;
/** e^(−i / STEPS). */
const POWERS = Float64Array.from({ length: 2 - LOWEST * STEPS }, (_, i) => Math.exp(-i / STEPS));

/**
 * e^x of x ≤ 0, off by less than 1e-10 of itself; 0 below −40. A row has 51,865 scores, for which Math.exp takes several
 * times as long.
 */
export function expOf(x: number): number {
  if (x < LOWEST) return 0;
  const step = (0.5 - x * STEPS) | 0;
  const rest = x + step / STEPS;
  return POWERS[step]! * (1 + rest * (1 + rest * (0.5 + rest / 6)));
}

interface Sampled {
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
  return Math.max(0, logits.indexOf(highestOf(logits, 0)));
}

function drawn(logits: Float32Array, temperature: number, uniform: number): number {
  const best = likeliest(logits);
  const weight = (token: number): number => expOf((logits[token]! - logits[best]!) / temperature);
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

/** The numbers that the rules of sampling need; a WhisperVocabulary has them. */
export interface RuleTokens {
  readonly endToken: number;
  readonly noTimestamps: number;
  readonly firstTime: number;
  readonly suppressed: readonly number[];
  readonly suppressedFirst: readonly number[];
  readonly latestFirstTime: number | undefined;
}

/**
 * What may come next, as in OpenAI's reference (whisper/decoding.py: SuppressBlank, SuppressTokens, ApplyTimestampRules).
 * Forbidden tokens get −∞ in `logits`, which is changed in place.
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
  let bestText = -Infinity;
  for (let token = 0; token < firstTime; token++) bestText = Math.max(bestText, logits[token]!);
  return logSumExp(logits, firstTime) > bestText;
}

/** ln Σ e^x from `from` on; −∞ of nothing. */
export function logSumExp(logits: Float32Array, from = 0): number {
  let highest = -Infinity;
  for (let token = from; token < logits.length; token++) highest = Math.max(highest, logits[token]!);
  if (highest === -Infinity) return -Infinity;
  let sum = 0;
  for (let token = from; token < logits.length; token++) sum += Math.exp(logits[token]! - highest);
  return highest + Math.log(sum);
}

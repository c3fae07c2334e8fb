/** Tokens of a text request, as its engine counted them. */
export interface TokenUsage {
  readonly promptTokens: number;
  readonly completionTokens: number;
  /** Part of `promptTokens` that was not computed again. */
  readonly cachedTokens: number;
}

export interface TokenBudgetOptions {
  /** Least tokens of a step, at least the rows of the running set: each of them can always decode. */
  readonly minTokens: number;
  /** Most tokens of a step, such as the backend's native batch. */
  readonly maxTokens: number;
  /** Milliseconds that a step may take while somebody waits for its next token. */
  readonly targetMs: number;
}

/** Tokens added after a step that was on time although the budget bound it, as a share of `maxTokens`. */
const RISE = 1 / 32;
/** A single slow step, such as one during a collection of garbage, takes no more than half away. */
const DEEPEST_CUT = 0.5;

/**
 * Tokens per step, so that prefill does not tear holes into the answers of those who decode (D-21). Too slow: cut in
 * proportion. On time, and bound by the budget: a little more. On time with little to do tells nothing, and changes nothing.
 */
export class TokenBudget {
  readonly #options: TokenBudgetOptions;
  #tokens: number;

  /** @throws RangeError when the bounds are no range. */
  constructor(options: TokenBudgetOptions) {
    if (!(options.minTokens >= 1 && options.maxTokens >= options.minTokens && options.targetMs > 0))
      throw new RangeError(
        `A step of ${options.minTokens} to ${options.maxTokens} tokens in ${options.targetMs} ms is no range.`,
      );
    this.#options = options;
    this.#tokens = options.maxTokens;
  }

  /** What the adaptation came to, whoever decodes. */
  get tokens(): number {
    return Math.floor(this.#tokens);
  }

  /** Tokens of the next step. Without anybody who decodes there is no gap to keep small. */
  allowance(decoding: number): number {
    return decoding === 0 ? this.#options.maxTokens : this.tokens;
  }

  /** What a step of so many tokens took. */
  observe(step: { readonly decoding: number; readonly tokens: number; readonly ms: number }): void {
    if (step.decoding === 0) return;
    const { minTokens, maxTokens, targetMs } = this.#options;
    if (step.ms > targetMs) {
      // From what was run: a small step that was slow says more than the budget that it did not use.
      const fitting = Math.min(this.#tokens, step.tokens) * Math.max(DEEPEST_CUT, targetMs / step.ms);
      this.#tokens = Math.max(minTokens, fitting);
    } else if (step.tokens >= this.tokens) {
      this.#tokens = Math.min(maxTokens, this.#tokens + Math.max(1, maxTokens * RISE));
    }
  }
}

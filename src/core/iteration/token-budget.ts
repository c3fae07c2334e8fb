/**
 * Tokens added after a step that was on time although the budget bound it, as a
 * share of `maxTokens`.
 */
const RISE = 1 / 32;
/**
 * A single slow step, such as one during a collection of garbage, takes no more
 * than half away.
 */
const DEEPEST_CUT = 0.5;

/**
 * Tokens per step, so that prefill does not delay decoding sequences (D-21). Too slow:
 * cut in proportion. On time, and bound by the budget: a little more. On time with little
 * to do changes nothing.
 */
export class TokenBudget {
  #tokens: number;

  /** @throws RangeError when the bounds are no range. */
  constructor(
    private readonly options: {
      /**
       * Least tokens of a step, at least the rows of the running set: each of them
       * can always decode.
       */
      readonly minTokens: number;
      /** Most tokens of a step, such as the backend's native batch. */
      readonly maxTokens: number;
      /** Milliseconds that a step may take while a sequence decodes. */
      readonly targetMs: number;
    },
  ) {
    if (!(options.minTokens >= 1 && options.maxTokens >= options.minTokens && options.targetMs > 0))
      throw new RangeError(
        `A step of ${options.minTokens} to ${options.maxTokens} tokens in ${options.targetMs} ms is no range.`,
      );
    this.#tokens = options.maxTokens;
  }

  /** The budget of a step with decoding sequences. */
  get tokens(): number {
    return Math.floor(this.#tokens);
  }

  /**
   * Tokens of the next step. Without decoding sequences there is no inter-token gap
   * to keep small.
   */
  allowance(decoding: number): number {
    return decoding === 0 ? this.options.maxTokens : this.tokens;
  }

  /** Adapts to the duration of a step. */
  observe(step: { readonly decoding: number; readonly tokens: number; readonly ms: number }): void {
    if (step.decoding === 0) return;
    const { minTokens, maxTokens, targetMs } = this.options;
    if (step.ms > targetMs) {
      // From the tokens that were run: a small slow step says more than the budget that
      // it did not use.
      const fitting =
        Math.min(this.#tokens, step.tokens) * Math.max(DEEPEST_CUT, targetMs / step.ms);
      this.#tokens = Math.max(minTokens, fitting);
    } else if (step.tokens >= this.tokens) {
      this.#tokens = Math.min(maxTokens, this.#tokens + Math.max(1, maxTokens * RISE));
    }
  }
}

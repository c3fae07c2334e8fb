/** What the steps of continuous batching do now, and have done since the process began. */
export interface GenerationActivity {
  /** Sequences in the running set, and in the line before it. */
  readonly running: number;
  readonly waiting: number;
  /** Blocks of KV memory: those that nobody holds, and all. */
  readonly freeBlocks: number;
  readonly blocks: number;
  /** Tokens of a step at most, while somebody decodes. */
  readonly stepTokens: number;
  /** Steps with work, and native decode calls: equal unless steps were repaired. */
  readonly steps: number;
  readonly decodeCalls: number;
  /** Times that a sequence lost its memory to another, or for being paused. */
  readonly preemptions: number;
  /** Tokens of prompts that were found computed. */
  readonly prefixHitTokens: number;
  /** Tokens that should have been found so, and were not. */
  readonly strandedTokens: number;
  /** Times that the backend died. */
  readonly losses: number;
}

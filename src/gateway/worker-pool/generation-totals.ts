import { type GenerationActivity } from '../../contracts/grpc/health.codec.js';

const TOTALS = ['steps', 'decodeCalls', 'preemptions', 'prefixHitTokens', 'strandedTokens', 'losses'] as const;

/** What continuous batching has done, as sums. */
export type GenerationCounts = Readonly<Pick<GenerationActivity, (typeof TOTALS)[number]>>;

const NOTHING: GenerationCounts = {
  ...{ steps: 0, decodeCalls: 0, preemptions: 0, prefixHitTokens: 0, strandedTokens: 0, losses: 0 },
};

/** Sums that one process reports, as increments: the next process starts from nothing again. */
export class GenerationTotals {
  #last = NOTHING;

  since(now: GenerationCounts): GenerationCounts {
    const counts = { ...NOTHING };
    for (const name of TOTALS) counts[name] = Math.max(0, now[name] - this.#last[name]);
    this.#last = now;
    return counts;
  }
}

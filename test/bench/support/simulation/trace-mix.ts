import { exponential, type RandomSource, seededRandom } from '../seeded-random.js';
import { type TraceRequest } from './trace.js';

/** A mix of callers, made rather than recorded; the same for the same seed. */
export interface TraceMix {
  readonly requests: number;
  /** Mean arrivals per second, all models together. */
  readonly ratePerS: number;
  /** Model → share of the requests; shares sum to 1. */
  readonly models: ReadonlyMap<string, number>;
  readonly tenants: readonly string[];
  /** Share of requests that are REALTIME. */
  readonly realtimeShare: number;
  /** Absent: Poisson. Else the rate changes between two levels, at random instants. */
  readonly bursts?: Bursts;
  /** Share of requests whose caller hangs up, uniformly within `cancelWithinMs`. */
  readonly cancelShare?: number;
  readonly cancelWithinMs?: number;
  readonly seed?: number;
}

/** While a burst lasts, `factor` times the calm rate; both lengths are exponential. */
export interface Bursts {
  readonly factor: number;
  readonly calmMs: number;
  readonly burstMs: number;
}

export function generateTrace(mix: TraceMix): TraceRequest[] {
  const random = seededRandom(mix.seed ?? 1);
  const rate = mix.bursts
    ? new BurstyRate(mix.ratePerS, mix.bursts, random)
    : { perSAt: () => mix.ratePerS };
  const chooseModel = chooser(mix.models, random);
  const trace: TraceRequest[] = [];
  let atMs = 0;
  while (trace.length < mix.requests) {
    atMs += exponential(random, 1000 / rate.perSAt(atMs));
    trace.push({ atMs, ...identity(mix, chooseModel(), random) });
  }
  return trace;
}

function identity(mix: TraceMix, model: string, random: RandomSource): Omit<TraceRequest, 'atMs'> {
  const { tenants, realtimeShare, cancelShare = 0, cancelWithinMs = 0 } = mix;
  const tenant = tenants[Math.floor(random() * tenants.length)] ?? 'default';
  const priority = random() < realtimeShare ? 'realtime' : 'batch';
  const leaves = random() < cancelShare;
  return {
    model,
    tenant,
    priority,
    ...(leaves && { cancelAfterMs: random() * cancelWithinMs }),
  };
}

/** Two levels whose mean is the wanted rate (a Markov-modulated Poisson process). */
class BurstyRate {
  readonly #calmPerS: number;
  #burst = false;
  #untilMs = 0;

  constructor(
    meanPerS: number,
    private readonly bursts: Bursts,
    private readonly random: RandomSource,
  ) {
    const burstShare = bursts.burstMs / (bursts.burstMs + bursts.calmMs);
    this.#calmPerS = meanPerS / (1 - burstShare + burstShare * bursts.factor);
    this.#untilMs = exponential(random, bursts.calmMs);
  }

  perSAt(atMs: number): number {
    while (atMs >= this.#untilMs) {
      this.#burst = !this.#burst;
      this.#untilMs += exponential(
        this.random,
        this.#burst ? this.bursts.burstMs : this.bursts.calmMs,
      );
    }
    return this.#calmPerS * (this.#burst ? this.bursts.factor : 1);
  }
}

function chooser(shares: ReadonlyMap<string, number>, random: RandomSource): () => string {
  const [first = ''] = shares.keys();
  return () => {
    let left = random();
    for (const [name, share] of shares) {
      left -= share;
      if (left < 0) return name;
    }
    return first;
  };
}

/**
 * A few models get most of the work, as everywhere: the shares of rank 1, 1/2, 1/3, ...
 */
export function zipfShares(count: number): ReadonlyMap<string, number> {
  const weights = Array.from({ length: count }, (_, rank) => 1 / (rank + 1));
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  return new Map(weights.map((weight, rank) => [`model-${rank + 1}`, weight / total]));
}

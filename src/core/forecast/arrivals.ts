import { DrainRate } from '../queue/drain-rate.js';
import { type RequestPriority } from '../request/request-priority.js';
import { type ScheduledRequest } from '../request/scheduled-request.js';

/** What is assumed of a request that has not come. */
type ExpectedRequest = Pick<ScheduledRequest, 'tenant' | 'costMs'>;

/** So many of the last arrivals stand for those to come: their tenants and costs. */
const SAMPLE = 64;

/**
 * Arrivals of one model and priority: their recent rate, and the last of
 * them as examples.
 */
export class RecentArrivals {
  readonly #rate = new DrainRate(20_000);
  readonly #sample: ExpectedRequest[] = [];
  #next = 0;

  came({ tenant, costMs }: ExpectedRequest, nowMs: number): void {
    this.#rate.record(1, nowMs);
    this.#sample[this.#next] = { tenant, costMs };
    this.#next = (this.#next + 1) % SAMPLE;
  }

  /** What comes with each millisecond, in milliseconds of the costs as `costOf` sees them. */
  load(nowMs: number, costOf = (costMs: number): number => costMs): number {
    const sum = this.#sample.reduce((total, { costMs }) => total + costOf(costMs), 0);
    return this.#sample.length === 0
      ? 0
      : ((this.#rate.perSecond(nowMs) ?? 0) * sum) / this.#sample.length / 1000;
  }

  /** Those to come from `nowMs` on, at equal distances. */
  stream(priority: RequestPriority, nowMs: number) {
    const gapMs = 1000 / (this.#rate.perSecond(nowMs) ?? 0);
    const sample = this.#sample;
    let at = 0;
    return {
      priority,
      nextMs: nowMs + gapMs,
      take(): ExpectedRequest {
        this.nextMs += gapMs;
        at = (at + 1) % sample.length;
        return sample[at] ?? { costMs: 1 };
      },
    };
  }
}

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

  /** Those to come from `nowMs` on, at equal distances. */
  stream(priority: RequestPriority, nowMs: number): ArrivalStream {
    const perSecond = this.#rate.perSecond(nowMs) ?? 0;
    return new ArrivalStream(this.#sample, { priority, nowMs, gapMs: 1000 / perSecond });
  }
}

export class ArrivalStream {
  nextMs: number;
  #at = 0;

  constructor(
    private readonly sample: readonly ExpectedRequest[],
    private readonly options: {
      readonly priority: RequestPriority;
      readonly nowMs: number;
      readonly gapMs: number;
    },
  ) {
    this.nextMs = options.nowMs + options.gapMs;
  }

  get priority(): RequestPriority {
    return this.options.priority;
  }

  take(): ExpectedRequest {
    this.nextMs += this.options.gapMs;
    this.#at = (this.#at + 1) % this.sample.length;
    return this.sample[this.#at] ?? { costMs: 1 };
  }
}

import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { ProcessClock } from '../../platform/clock/process-clock.js';
import { QueueEvents } from './queue-events.js';
import { RequestJobs } from './request-jobs.js';
import { SharedRequests } from './shared-requests.js';

/** Counted again after this time, while somebody asks. */
const COUNT_AGAIN_MS = 250;
/** An older count says nothing. */
const KNOWN_MS = 2500;

/**
 * Whether other gateways have requests of a model in the shared queue, for who asks often and
 * cannot wait for Redis. What happens to one of their jobs makes the count unknown.
 */
@Injectable()
export class RequestsElsewhere implements OnApplicationBootstrap {
  /** By model. */
  readonly #counted = new Map<string, { readonly requests: number; readonly atMs: number }>();
  readonly #counting = new Set<string>();

  constructor(
    private readonly clock: ProcessClock,
    private readonly jobs: RequestJobs,
    private readonly events: QueueEvents,
    private readonly requests: SharedRequests,
  ) {}

  onApplicationBootstrap(): void {
    this.events.events$.subscribe(({ model, jobId }) => {
      if (!this.requests.get({ model, jobId })) this.#counted.delete(model);
    });
  }

  /** False also while it is not known, as when it is asked for the first time. */
  areNone(model: string): boolean {
    const { requests, atMs } = this.#counted.get(model) ?? { requests: 1, atMs: -Infinity };
    const ageMs = this.clock.nowMs() - atMs;
    if (ageMs > COUNT_AGAIN_MS) void this.#count(model);
    return requests === 0 && ageMs <= KNOWN_MS;
  }

  async #count(model: string): Promise<void> {
    if (this.#counting.has(model)) return;
    this.#counting.add(model);
    const { link, queues } = this.jobs;
    const all = await link.look(() => queues.counts(model), undefined);
    this.#counting.delete(model);
    if (!all) return;
    const own = this.requests.all().filter(one => one.placed && one.request.model === model);
    const requests = Math.max(0, all.realtime + all.batch + all.running - own.length);
    this.#counted.set(model, { requests, atMs: this.clock.nowMs() });
  }
}

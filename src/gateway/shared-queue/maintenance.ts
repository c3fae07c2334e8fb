import {
  Inject,
  Injectable,
  Logger,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
} from '@nestjs/common';
import { MODELS } from '../../platform/config/config.module.js';
import { type ModelSpec } from '../../platform/config/model-spec.js';
import { Settings } from '../../platform/config/settings.js';
import { sweepEveryMs } from '../../platform/redis/result-expiry.js';
import { PayloadBlobs } from './payload-blobs.js';
import { SharedQueueLink } from './shared-queue-link.js';
import { ModelQueues } from './model-queues.js';

const SWEEP_MS = 60_000;
/** A result that its worker could not deliver at once is as much older than its job. */
const LATE_DELIVERY_MS = 600_000;
/** A worker that is legally busy with an upload has no longer than this to read it. */
const LONGEST_WORK_MS = 3_600_000;

/**
 * What any gateway does for all of them: sweeping up after the dead. Doing it
 * twice is harmless.
 */
@Injectable()
export class SharedQueueMaintenance
  implements OnApplicationBootstrap, OnApplicationShutdown
{
  readonly #logger = new Logger(SharedQueueMaintenance.name);
  #timers: NodeJS.Timeout[] = [];

  constructor(
    private readonly link: SharedQueueLink,
    private readonly blobs: PayloadBlobs,
    private readonly queues: ModelQueues,
    @Inject(MODELS) private readonly models: readonly ModelSpec[],
    private readonly settings: Settings,
  ) {}

  onApplicationBootstrap(): void {
    if (!this.link.enabled) return;
    const { resultTtlMs } = this.settings.redis;
    this.#timers = [
      setInterval(() => void this.#quietly(() => this.sweep()), SWEEP_MS).unref(),
      setInterval(
        () => void this.#quietly(() => this.expire()),
        sweepEveryMs(resultTtlMs),
      ).unref(),
    ];
  }

  onApplicationShutdown(): void {
    for (const timer of this.#timers) clearInterval(timer);
  }

  /** Removes blobs that are no longer needed. Resolves with their number. */
  sweep(nowMs = Date.now()): Promise<number> {
    const { queue, redis } = this.settings;
    const resultsMs = nowMs - redis.resultTtlMs - LATE_DELIVERY_MS;
    return this.blobs.sweep({
      resultsMs,
      inputsMs: nowMs - queue.timeoutMs - redis.resultTtlMs - LONGEST_WORK_MS,
    });
  }

  /** Removes unread results and old events. @throws when Redis does not answer. */
  async expire(nowMs = Date.now()): Promise<void> {
    if (!this.link.usable) return;
    for (const { id } of this.models) await this.queues.sweep(id, nowMs);
  }

  async #quietly(work: () => Promise<unknown>): Promise<void> {
    await work().catch((error: unknown) =>
      this.#logger.debug({ err: error }, 'upkeep failed; done again'),
    );
  }
}

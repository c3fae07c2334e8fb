import {
  Injectable,
  Logger,
  type OnApplicationBootstrap,
  type OnModuleDestroy,
} from '@nestjs/common';
import { DomainError } from '../../core/errors/domain-error.js';
import { Settings } from '../../platform/config/settings.js';
import { ResponseRecordStore } from '../../platform/database/response-store.js';
import { counterMetric } from '../../platform/metrics/metric-provider.js';
import { ResponseRuns } from './response-runs.js';

const PORTION = 200;

/**
 * Removes expired responses, and ends background responses that no gateway will
 * run any more.
 */
@Injectable()
export class ResponseExpiry implements OnApplicationBootstrap, OnModuleDestroy {
  readonly #logger = new Logger(ResponseExpiry.name);
  readonly #removed = counterMetric('switchyard_responses_expired_total');
  #timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly store: ResponseRecordStore,
    private readonly runs: ResponseRuns,
    private readonly settings: Settings,
  ) {}

  onApplicationBootstrap(): void {
    this.#timer = setInterval(() => void this.#safely(), this.settings.requests.leaseMs);
  }

  onModuleDestroy(): void {
    clearInterval(this.#timer);
  }

  /** @returns the number of responses that were removed */
  async sweep(nowMs: number): Promise<number> {
    for (const record of await this.store.abandoned(
      nowMs - this.settings.requests.leaseMs,
      PORTION,
    ))
      await this.runs.endWith(record, writer => writer.fail(abandoned()));
    const removed = await this.store.expire(nowMs, PORTION);
    this.#removed.inc(removed);
    return removed;
  }

  /** If the database is away, the next run tries again. */
  async #safely(): Promise<void> {
    await this.sweep(Date.now()).catch((error: unknown) =>
      this.#logger.warn(
        { reason: (error as Error).message },
        'expired responses could not be removed',
      ),
    );
  }
}

const abandoned = (): DomainError =>
  new DomainError(
    'gateway_lost',
    'Too many gateways ended while they ran this response, or it was never queued.',
  );

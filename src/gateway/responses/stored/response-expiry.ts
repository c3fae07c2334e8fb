import {
  Injectable,
  Logger,
  type OnApplicationBootstrap,
  type OnModuleDestroy,
} from '@nestjs/common';
import { Settings } from '../../../platform/config/settings.js';
import { ResponseRecordStore } from '../../../platform/database/response-store.js';
import { counterMetric } from '../../../platform/metrics/metric-provider.js';

const PORTION = 200;

/** Removes expired responses, and events that are no longer stored. */
@Injectable()
export class ResponseExpiry implements OnApplicationBootstrap, OnModuleDestroy {
  readonly #logger = new Logger(ResponseExpiry.name);
  readonly #removed = counterMetric('switchyard_responses_expired_total');
  #timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly store: ResponseRecordStore,
    private readonly settings: Settings,
  ) {}

  onApplicationBootstrap(): void {
    this.#timer = setInterval(() => void this.#safely(), this.settings.files.gcIntervalMs);
  }

  onModuleDestroy(): void {
    clearInterval(this.#timer);
  }

  /** @returns the number of responses that were removed */
  async sweep(nowMs: number): Promise<number> {
    let removed = 0;
    for (let portion = PORTION; portion === PORTION; removed += portion)
      portion = await this.store.expire(nowMs, PORTION);
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

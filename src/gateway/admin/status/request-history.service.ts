import {
  Injectable,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
  type OnModuleInit,
} from '@nestjs/common';
import { type Subscription } from 'rxjs';
import {
  type HistoryPoint,
  type ModelRates,
  RequestHistory,
} from '../../../core/status/request-history.js';
import { ProcessClock } from '../../../platform/clock/process-clock.js';
import { DispatchEventBus } from '../../../platform/events/events.module.js';
import { RequestQueues } from '../../queue/request-queues.js';

export const STEP_S = 10;
export const MAX_MINUTES = 60;

/** The last hour of this gateway, in memory: a restart begins anew. */
@Injectable()
export class RequestHistoryService
  implements OnModuleInit, OnApplicationBootstrap, OnApplicationShutdown
{
  readonly #history: RequestHistory;
  #subscription: Subscription | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly events: DispatchEventBus,
    private readonly queues: RequestQueues,
    private readonly clock: ProcessClock,
  ) {
    this.#history = new RequestHistory({
      steps: (MAX_MINUTES * 60) / STEP_S,
      startMs: clock.nowMs(),
    });
  }

  onModuleInit(): void {
    this.#subscription = this.events.events$.subscribe(this.#history.apply);
  }

  onApplicationBootstrap(): void {
    this.#timer = setInterval(() => void this.endStep(), STEP_S * 1000).unref();
  }

  onApplicationShutdown(): void {
    this.#subscription?.unsubscribe();
    clearInterval(this.#timer);
  }

  points(minutes: number): readonly HistoryPoint[] {
    return this.#history.points((minutes * 60) / STEP_S);
  }

  rates(model: string): ModelRates {
    return this.#history.rates(model, this.clock.nowMs());
  }

  /** Ends the step that runs. Never rejects. */
  async endStep(): Promise<void> {
    const depths = await this.queues.depths().catch(() => []);
    const gauges = depths.map(({ model, realtime, batch, running, oldestWaitMs = 0 }) => {
      return [model, { waiting: realtime + batch, inFlight: running, oldestWaitMs }] as const;
    });
    this.#history.close(this.clock.nowMs(), Math.round(Date.now() / 1000), new Map(gauges));
  }
}

import { randomUUID } from 'node:crypto';
import { Inject, Injectable, Logger, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { Subject } from 'rxjs';
import { type KeptLease, type KeptRequest, type KeptRequestStore } from '../../core/kept/kept-request.port.js';
import { SETTINGS, type Settings } from '../../platform/config/settings.js';
import { KEPT_REQUEST_STORE } from '../../platform/database/database.tokens.js';
import { SchedulerService } from '../scheduler/scheduler.service.js';
import { KeptAnswers } from './kept-answers.js';

const PORTION = 200;

/**
 * The pulse of this gateway's kept requests: it keeps what it runs, hears of cancels that came to others, finds what a dead
 * gateway left, and removes what has expired.
 */
@Injectable()
export class KeptLeases implements OnApplicationBootstrap, OnModuleDestroy {
  readonly #logger = new Logger(KeptLeases.name);
  readonly #abandoned = new Subject<KeptRequest>();
  /** Requests of gateways that fell silent; they are ours now. */
  readonly abandoned$ = this.#abandoned.asObservable();
  readonly owner = randomUUID();
  #pulse: NodeJS.Timeout | undefined;
  #sweep: NodeJS.Timeout | undefined;
  #held = 0;

  constructor(
    @Inject(KEPT_REQUEST_STORE) private readonly store: KeptRequestStore,
    private readonly answers: KeptAnswers,
    private readonly scheduler: SchedulerService,
    @Inject(SETTINGS) private readonly settings: Settings,
  ) {}

  onApplicationBootstrap(): void {
    const { requests, files } = this.settings;
    this.#pulse = setInterval(() => void this.#safely(() => this.beat()), requests.leaseMs / 3);
    this.#sweep = setInterval(() => void this.#safely(() => this.sweep(Date.now())), files.gcIntervalMs);
  }

  /** What runs on is not prolonged any more: it ends within the grace, is released, or is taken over. */
  onModuleDestroy(): void {
    clearInterval(this.#pulse);
    clearInterval(this.#sweep);
    this.#abandoned.complete();
  }

  lease(nowMs: number): KeptLease {
    return { owner: this.owner, nowMs, leaseMs: this.settings.requests.leaseMs };
  }

  /** @returns lets go */
  hold(): () => void {
    this.#held += 1;
    return () => void (this.#held -= 1);
  }

  /** One pulse. */
  async beat(): Promise<void> {
    const lease = this.lease(Date.now());
    if (this.#held > 0)
      for (const { requestId } of await this.store.beat(lease)) await this.scheduler.cancel(requestId, 'client');
    for (let taken = await this.store.takeOver(lease); taken; taken = await this.store.takeOver(lease)) {
      this.#logger.warn(
        { requestId: taken.requestId, attempts: taken.attempts },
        'taken over from a gateway that fell silent',
      );
      this.#abandoned.next(taken);
    }
  }

  async sweep(nowMs: number): Promise<number> {
    const gone = await this.store.expire(nowMs, PORTION);
    await this.answers.forget(gone);
    return gone.length;
  }

  /** A database that is away now is there the next time. */
  async #safely(act: () => Promise<unknown>): Promise<void> {
    await act().catch((error: unknown) =>
      this.#logger.warn({ reason: (error as Error).message }, 'kept requests could not be looked after'),
    );
  }
}

import { randomUUID } from 'node:crypto';
import { Inject, Injectable, Logger, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { Subject } from 'rxjs';
import {
  type StoredLease,
  type StoredRef,
  type StoredRequest,
  type StoredRequestStore,
} from '../../core/request/stored-request.port.js';
import { SETTINGS, type Settings } from '../../platform/config/settings.js';
import { KEPT_REQUEST_STORE } from '../../platform/database/database.tokens.js';
import { SchedulerService } from '../scheduler/scheduler.service.js';
import { StoredAnswers } from './stored-answers.js';

const PORTION = 200;

/**
 * The pulse of this gateway's kept requests: it keeps what it runs, hears of cancels that came to others, finds what a dead
 * gateway left, and removes what has expired.
 */
@Injectable()
export class StoredLeases implements OnApplicationBootstrap, OnModuleDestroy {
  readonly #logger = new Logger(StoredLeases.name);
  readonly #abandoned = new Subject<StoredRequest>();
  /** Requests of gateways that fell silent; they are ours now. */
  readonly abandoned$ = this.#abandoned.asObservable();
  readonly owner = randomUUID();
  #pulse: NodeJS.Timeout | undefined;
  #sweep: NodeJS.Timeout | undefined;
  /** By name: what runs, or is served, here. */
  readonly #held = new Map<string, number>();
  /** What the database's clock is ahead of this host's: leases are compared by hosts whose clocks differ. */
  #aheadMs = 0;

  constructor(
    @Inject(KEPT_REQUEST_STORE) private readonly store: StoredRequestStore,
    private readonly answers: StoredAnswers,
    private readonly scheduler: SchedulerService,
    @Inject(SETTINGS) private readonly settings: Settings,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    const { requests, files } = this.settings;
    await this.#safely(() => this.#setClock());
    this.#pulse = setInterval(() => void this.#safely(() => this.beat()), requests.leaseMs / 3);
    this.#sweep = setInterval(() => void this.#safely(() => this.sweep(this.nowMs())), files.gcIntervalMs);
  }

  /** What runs on is not prolonged any more: it ends within the grace, is released, or is taken over. */
  onModuleDestroy(): void {
    clearInterval(this.#pulse);
    clearInterval(this.#sweep);
    this.#abandoned.complete();
  }

  /** Unix milliseconds of the clock that gateways share. */
  nowMs(): number {
    return Date.now() + this.#aheadMs;
  }

  lease(): StoredLease {
    return { owner: this.owner, nowMs: this.nowMs(), leaseMs: this.settings.requests.leaseMs };
  }

  /** From before its row is made: what is not held is not prolonged. @returns lets go */
  hold(ref: StoredRef): () => void {
    const name = nameOf(ref);
    this.#held.set(name, (this.#held.get(name) ?? 0) + 1);
    return () => {
      const left = (this.#held.get(name) ?? 1) - 1;
      if (left > 0) this.#held.set(name, left);
      else this.#held.delete(name);
    };
  }

  /** One pulse. */
  async beat(): Promise<void> {
    await this.#setClock();
    const lease = this.lease();
    for (const request of await this.store.beat(lease)) {
      const { tenant, requestId: id, cancelling } = request;
      // Its run has ended, and its end could not be written.
      if (!this.#held.has(nameOf(request))) await this.store.release(request, this.owner);
      else if (cancelling) await this.scheduler.cancel({ tenant, id }, 'client');
    }
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

  async #setClock(): Promise<void> {
    const askedMs = Date.now();
    const databaseMs = await this.store.nowMs();
    this.#aheadMs = Math.round(databaseMs - (askedMs + Date.now()) / 2);
  }

  /** A database that is away now is there the next time. */
  async #safely(act: () => Promise<unknown>): Promise<void> {
    await act().catch((error: unknown) =>
      this.#logger.warn({ reason: (error as Error).message }, 'kept requests could not be looked after'),
    );
  }
}

const nameOf = ({ tenant, name }: StoredRef): string => `${tenant} ${name}`;

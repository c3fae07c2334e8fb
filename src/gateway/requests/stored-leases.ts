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
import { STORED_REQUEST_STORE } from '../../platform/database/database.tokens.js';
import { SchedulerService } from '../scheduler/scheduler.service.js';
import { StoredAnswers } from './stored-answers.js';

const PORTION = 200;

/**
 * Leases of this gateway's stored requests: renews those that run here, receives cancels sent to other gateways, takes
 * over the requests of a dead gateway, and removes expired ones.
 */
@Injectable()
export class StoredLeases implements OnApplicationBootstrap, OnModuleDestroy {
  readonly #logger = new Logger(StoredLeases.name);
  readonly #abandoned = new Subject<StoredRequest>();
  /** Requests of gateways whose leases expired; this gateway now holds them. */
  readonly abandoned$ = this.#abandoned.asObservable();
  readonly owner = randomUUID();
  #renewal: NodeJS.Timeout | undefined;
  #sweep: NodeJS.Timeout | undefined;
  /** Requests that run or are served here, by name. */
  readonly #held = new Map<string, number>();
  /** How far the database's clock is ahead of this host's: leases are compared by hosts whose clocks differ. */
  #aheadMs = 0;

  constructor(
    @Inject(STORED_REQUEST_STORE) private readonly store: StoredRequestStore,
    private readonly answers: StoredAnswers,
    private readonly scheduler: SchedulerService,
    @Inject(SETTINGS) private readonly settings: Settings,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    const { requests, files } = this.settings;
    await this.#safely(() => this.#setClock());
    this.#renewal = setInterval(() => void this.#safely(() => this.renew()), requests.leaseMs / 3);
    this.#sweep = setInterval(() => void this.#safely(() => this.sweep(this.nowMs())), files.gcIntervalMs);
  }

  /** Leases are not renewed any more: a request ends within the grace, is released, or is taken over. */
  onModuleDestroy(): void {
    clearInterval(this.#renewal);
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

  /** Call it before the row is created: only held requests are renewed. @returns releases the request */
  hold(ref: StoredRef): () => void {
    const name = nameOf(ref);
    this.#held.set(name, (this.#held.get(name) ?? 0) + 1);
    return () => {
      const left = (this.#held.get(name) ?? 1) - 1;
      if (left > 0) this.#held.set(name, left);
      else this.#held.delete(name);
    };
  }

  /** Renews the leases once. */
  async renew(): Promise<void> {
    await this.#setClock();
    const lease = this.lease();
    for (const request of await this.store.renewLeases(lease)) {
      const { tenant, requestId: id, cancelling } = request;
      // The request ended here, but its end could not be written.
      if (!this.#held.has(nameOf(request))) await this.store.release(request, this.owner);
      else if (cancelling) await this.scheduler.cancel({ tenant, id }, 'client');
    }
    for (let taken = await this.store.takeOver(lease); taken; taken = await this.store.takeOver(lease)) {
      this.#logger.warn(
        { requestId: taken.requestId, attempts: taken.attempts },
        'taken over from a gateway whose lease expired',
      );
      this.#abandoned.next(taken);
    }
  }

  async sweep(nowMs: number): Promise<number> {
    const gone = await this.store.expire(nowMs, PORTION);
    await this.answers.remove(gone);
    return gone.length;
  }

  async #setClock(): Promise<void> {
    const askedMs = Date.now();
    const databaseMs = await this.store.nowMs();
    this.#aheadMs = Math.round(databaseMs - (askedMs + Date.now()) / 2);
  }

  /** If the database is away, the next run tries again. */
  async #safely(act: () => Promise<unknown>): Promise<void> {
    await act().catch((error: unknown) =>
      this.#logger.warn({ reason: (error as Error).message }, 'leases of stored requests could not be renewed'),
    );
  }
}

const nameOf = ({ tenant, name }: StoredRef): string => `${tenant} ${name}`;

import { randomUUID } from 'node:crypto';
import {
  Injectable,
  Logger,
  type OnApplicationBootstrap,
  type OnModuleDestroy,
} from '@nestjs/common';
import { Subject } from 'rxjs';
import {
  type EndOutcome,
  type StoredAttempt,
  type StoredEnding,
  type StoredLease,
  type StoredRef,
  type StoredRequest,
} from '../../core/request/stored-request.js';
import { Settings } from '../../platform/config/settings.js';
import { SchedulerService } from '../scheduler/scheduler.service.js';
import { StorageRetries } from './storage-retries.js';
import { StoredAnswers } from './stored-answers.js';
import { StoredRequestStore } from '../../platform/database/stored-request-store.js';

const PORTION = 200;

/**
 * Leases of this gateway's stored requests: renews those that run here, receives
 * cancels sent to other gateways, takes over the requests of a dead gateway, and
 * removes expired ones.
 */
@Injectable()
export class StoredLeases implements OnApplicationBootstrap, OnModuleDestroy {
  readonly #logger = new Logger(StoredLeases.name);
  readonly #abandoned = new Subject<StoredRequest>();
  /** Requests of gateways whose leases expired; this gateway now holds them. */
  readonly abandoned$ = this.#abandoned.asObservable();
  readonly owner = randomUUID();
  readonly #runs = new Map<AbortController, StoredRequest>();
  #renewal: NodeJS.Timeout | undefined;
  #sweep: NodeJS.Timeout | undefined;
  #renewing: Promise<void> | undefined;
  /** Instants of this process's monotonic clock, milliseconds. */
  #renewedMs = 0;
  #patientUntilMs = 0;
  /** Requests that run or are served here, by name. */
  readonly #held = new Map<string, number>();

  constructor(
    private readonly store: StoredRequestStore,
    private readonly answers: StoredAnswers,
    private readonly scheduler: SchedulerService,
    private readonly retries: StorageRetries,
    private readonly settings: Settings,
  ) {}

  onApplicationBootstrap(): void {
    const { requests, files } = this.settings;
    this.#renewedMs = performance.now();
    this.#renewal = setInterval(
      () => void (this.#renewing ??= this.#renewOnce()),
      requests.leaseMs / 3,
    );
    this.#sweep = setInterval(
      () => void this.#safely(() => this.#sweepOnce()),
      files.gcIntervalMs,
    );
  }

  /**
   * Leases are not renewed any more: a request ends within the grace, is released, or
   * is taken over.
   */
  onModuleDestroy(): void {
    clearInterval(this.#renewal);
    clearInterval(this.#sweep);
    this.#abandoned.complete();
  }

  /** After the drain: what did not end here may be run by another gateway at once. */
  async close(): Promise<void> {
    for (const run of this.#runs.keys()) run.abort();
    await this.#safely(() => this.store.release(this.owner));
  }

  get lease(): StoredLease {
    const { leaseMs } = this.settings.requests;
    return { owner: this.owner, leaseMs, isPatient: this.isPatient() };
  }

  /**
   * Call it before the row is created: only held requests are renewed. @returns
   * releases the request
   */
  hold(ref: StoredRef): () => void {
    const name = nameOf(ref);
    this.#held.set(name, (this.#held.get(name) ?? 0) + 1);
    return () => {
      const left = (this.#held.get(name) ?? 1) - 1;
      if (left > 0) this.#held.set(name, left);
      else this.#held.delete(name);
    };
  }

  /** Holds an attempt whose row exists, until it is released. */
  run(request: StoredRequest): {
    /**
     * Aborted when another gateway has the request, or may have it: this attempt
     * has to stop.
     */
    readonly gone: AbortSignal;
    readonly release: () => void;
  } {
    const run = new AbortController();
    const release = this.hold(request);
    this.#runs.set(run, request);
    return {
      gone: run.signal,
      release: () => {
        this.#runs.delete(run);
        release();
      },
    };
  }

  /**
   * Ends an attempt that has run here. With the database away it waits.
   * @param fullForMs how long it waits for room; absent: without limit
   */
  end(
    attempt: StoredAttempt,
    ending: Omit<StoredEnding, 'keepMs'>,
    fullForMs?: number,
  ): Promise<EndOutcome> {
    const { keepMs } = this.settings.requests;
    const write = () => this.store.end(attempt, { ...ending, keepMs });
    return this.retries.written(write, fullForMs);
  }

  /** Renews the leases once. */
  async renew(): Promise<void> {
    const runs = [...this.#runs];
    const held = await this.store.renewLeases(this.lease);
    const blobs = new Set(held.map(({ blob }) => blob));
    for (const [run, { blob }] of runs) if (!blobs.has(blob)) run.abort();
    for (const request of held) {
      const { tenant, requestId: id, cancelling } = request;
      // The request ended here, but its end could not be written.
      if (!this.#held.has(nameOf(request)))
        await this.store.release(this.owner, request);
      else if (cancelling) await this.scheduler.cancel({ tenant, id }, 'client');
    }
    const isPatient = this.isPatient();
    this.#renewedMs = performance.now();
    if (!isPatient) await this.#takeOver();
  }

  /**
   * True while gateways that live may not have renewed yet: the database, or this
   * process, did not answer for so long that leases may have lapsed meanwhile.
   */
  isPatient(): boolean {
    const { leaseMs } = this.settings.requests;
    const nowMs = performance.now();
    if (nowMs - this.#renewedMs > leaseMs / 2) this.#patientUntilMs = nowMs + leaseMs;
    return nowMs < this.#patientUntilMs;
  }

  /** Ends in time for the next renewal. */
  async #takeOver(): Promise<void> {
    const endMs = this.#renewedMs + this.settings.requests.leaseMs / 3;
    while (performance.now() < endMs && this.#abandoned.observed) {
      const taken = await this.store.takeOver(this.lease);
      if (!taken) return;
      this.#logger.warn(
        { requestId: taken.requestId, attempts: taken.attempts },
        'taken over from a gateway whose lease expired',
      );
      this.#abandoned.next(taken);
    }
  }

  async sweep(): Promise<number> {
    const gone = await this.store.expire(PORTION);
    await this.answers.remove(gone);
    return gone.length;
  }

  async #sweepOnce(): Promise<void> {
    if (!this.isPatient()) await this.sweep();
  }

  async #renewOnce(): Promise<void> {
    await this.#safely(() => this.renew());
    this.#renewing = undefined;
  }

  /** If the database is away, the next run tries again. */
  async #safely(act: () => Promise<unknown>): Promise<void> {
    await act().catch((error: unknown) =>
      this.#logger.warn(
        { reason: (error as Error).message },
        'leases of stored requests could not be renewed',
      ),
    );
  }
}

const nameOf = ({ tenant, name }: StoredRef): string => `${tenant} ${name}`;

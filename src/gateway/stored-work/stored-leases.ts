import { randomUUID } from 'node:crypto';
import {
  Injectable,
  Logger,
  type OnApplicationBootstrap,
  type OnModuleDestroy,
} from '@nestjs/common';
import {
  type StoredLease,
  type StoredRef,
  type StoredRequest,
} from '../../core/request/stored-request.js';
import { Settings } from '../../platform/config/settings.js';
import { StoredRequestStore } from '../../platform/database/stored-request-store.js';
import { CancellationManager } from '../cancellation/cancellation-manager.js';
import { StoredAnswers } from './stored-answers.js';

const PORTION = 200;

/** A lease of this gateway. `blob`: where the bytes of an attempt lie whose row exists. */
type LeaseHold = StoredRef & { readonly blob?: string | undefined };

/** An attempt that this gateway holds: who has it ends, drops or releases it. */
export interface WorkAttempt<W = StoredRequest> {
  readonly work: W;
  /**
   * Aborted when another gateway has the attempt, or may have it: it has to stop here.
   */
  readonly gone: AbortSignal;
  readonly release: () => void;
}

/**
 * Leases of this gateway's stored requests: renews those that run here, receives
 * cancels sent to other gateways, takes over the requests of a dead gateway, and
 * removes expired ones.
 */
@Injectable()
export class StoredLeases implements OnApplicationBootstrap, OnModuleDestroy {
  readonly #logger = new Logger(StoredLeases.name);
  readonly owner = randomUUID();
  /**
   * Called with a request of a gateway whose lease expired. Undefined: none is taken over.
   */
  onAbandoned: ((attempt: WorkAttempt) => void) | undefined;
  /** Remove what else has expired; each is called at every sweep. */
  readonly sweeps: (() => Promise<unknown>)[] = [];
  /** Leases of the requests that run or are served here, by what aborts them. */
  readonly #holds = new Map<AbortController, LeaseHold>();
  #renewal: NodeJS.Timeout | undefined;
  #sweep: NodeJS.Timeout | undefined;
  #renewing: Promise<void> | undefined;
  /** Instants of this process's monotonic clock, milliseconds. */
  #renewedMs = 0;
  #patientUntilMs = 0;

  constructor(
    private readonly store: StoredRequestStore,
    private readonly answers: StoredAnswers,
    private readonly cancellations: CancellationManager,
    private readonly settings: Settings,
  ) {}

  onApplicationBootstrap(): void {
    const { requests, files } = this.settings;
    this.#renewedMs = performance.now();
    const renewOnce = (): void => {
      this.#renewing ??= this.#safely(() => this.renew()).finally(
        () => (this.#renewing = undefined),
      );
    };
    this.#renewal = setInterval(renewOnce, requests.leaseMs / 3);
    this.sweeps.push(() => this.#removeExpired());
    const sweep = (): void => this.sweeps.forEach(remove => void this.#safely(remove));
    this.#sweep = setInterval(sweep, files.gcIntervalMs);
  }

  /**
   * Leases are not renewed any more: a request ends within the grace, is released, or
   * is taken over.
   */
  onModuleDestroy(): void {
    clearInterval(this.#renewal);
    clearInterval(this.#sweep);
    this.onAbandoned = undefined;
  }

  /** After the drain: what did not end here may be run by another gateway at once. */
  async close(): Promise<void> {
    for (const run of this.#holds.keys()) run.abort();
    await this.#safely(() => this.store.release(this.owner));
  }

  get lease(): StoredLease {
    const { leaseMs } = this.settings.requests;
    return { owner: this.owner, leaseMs, isPatient: this.isPatient() };
  }

  /**
   * Holds a request until it is released: only held ones are renewed. Call it before the
   * row is created, and for an attempt whose row exists.
   */
  hold<W extends LeaseHold>(work: W): WorkAttempt<W> {
    const { tenant, name, blob } = work;
    const run = new AbortController();
    this.#holds.set(run, { tenant, name, blob });
    return { work, gone: run.signal, release: () => void this.#holds.delete(run) };
  }

  /** Renews the leases once. */
  async renew(): Promise<void> {
    const holds = [...this.#holds];
    const held = await this.store.renewLeases(this.lease);
    const blobs = new Set(held.map(({ blob }) => blob));
    for (const [run, { blob }] of holds) if (blob !== undefined && !blobs.has(blob)) run.abort();
    const names = new Set(Array.from(this.#holds.values(), nameOf));
    for (const request of held) {
      const { tenant, requestId: id, cancelling } = request;
      // The request ended here, but its end could not be written.
      if (!names.has(nameOf(request))) await this.store.release(this.owner, request);
      else if (cancelling) await this.cancellations.cancel({ tenant, id }, 'client');
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
    while (performance.now() < endMs && this.onAbandoned) {
      const taken = await this.store.takeOver(this.lease);
      if (!taken) return;
      this.#logger.warn(
        { requestId: taken.requestId, attempts: taken.attempts },
        'taken over from a gateway whose lease expired',
      );
      this.onAbandoned?.(this.hold(taken));
    }
  }

  async #removeExpired(): Promise<void> {
    for (let removed = PORTION; removed === PORTION && !this.isPatient();) {
      const expired = await this.store.expire(PORTION);
      await this.answers.remove(expired);
      removed = expired.length;
    }
  }

  /** If the database is away, the next run tries again. */
  async #safely(act: () => Promise<unknown>): Promise<void> {
    await act().catch((error: unknown) =>
      this.#logger.warn(
        { reason: (error as Error).message },
        'stored requests could not be renewed or removed',
      ),
    );
  }
}

const nameOf = ({ tenant, name }: StoredRef): string => `${tenant} ${name}`;

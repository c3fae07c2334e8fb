import { Injectable, Logger } from '@nestjs/common';
import {
  type EndOutcome,
  type NewStoredRequest,
  type StoredEnd,
  type StoredEnding,
  type StoredRequest,
} from '../../core/request/stored-request.js';
import { Settings } from '../../platform/config/settings.js';
import { StoredRequestStore } from '../../platform/database/stored-request-store.js';
import { storageUnavailable } from '../../platform/http/passing-errors.js';
import { newStoredBlob } from '../../platform/storage/blob-keys.js';
import { StorageRetries } from './storage-retries.js';
import { StoredAnswers, type WorkAnswer } from './stored-answers.js';
import { StoredLeases, type WorkAttempt } from './stored-leases.js';

/**
 * Records of stored work, whoever runs it: async requests, background responses and the
 * answers that a repeated request gets.
 *
 * Who writes what: only methods of this class write records, bodies and answers; the
 * leases of attempts are written by `StoredLeases`. Each write names the attempt, so that
 * of two gateways that hold the same work only the one with the lease changes it.
 * Who ends it: who holds the attempt, by `answer`, `end` or `drop`; where its gateway is
 * gone, the one that takes the work over; and the sweep, once a record has expired.
 */
@Injectable()
export class StoredWork {
  readonly #logger = new Logger(StoredWork.name);

  constructor(
    private readonly store: StoredRequestStore,
    private readonly answers: StoredAnswers,
    private readonly leases: StoredLeases,
    private readonly retries: StorageRetries,
    private readonly settings: Settings,
  ) {}

  /** Without `attempt`, `work` is the one that came before under its name. */
  async open(
    given: Omit<NewStoredRequest, 'blob' | 'createdAtMs' | 'expiresAtMs'>,
  ): Promise<{ readonly work: StoredRequest; readonly attempt?: WorkAttempt }> {
    const nowMs = Date.now();
    const expiresAtMs = nowMs + this.settings.requests.keepMs;
    const asked = { ...given, blob: newStoredBlob(), createdAtMs: nowMs, expiresAtMs };
    // Before its row exists: a renewal in between would give it back.
    const { release } = this.leases.hold(given);
    try {
      const { created, request: work, replaced } = await this.store.open(asked, this.leases.lease);
      await this.answers.remove(replaced);
      return { work, ...(created && { attempt: this.leases.hold(work) }) };
    } finally {
      release();
    }
  }

  /**
   * Stores the body of an attempt: from then on any gateway can run it.
   * @param asked read when all of the body has come
   * @throws DomainError `storage_unavailable`, also when the lease was lost meanwhile
   */
  async receive(
    { work, ...hold }: WorkAttempt,
    bytes: AsyncIterable<Uint8Array>,
    asked: Pick<StoredRequest, 'fingerprint'>,
  ): Promise<WorkAttempt> {
    const body = await this.answers.storeBody(work, bytes);
    if (await this.store.markReceived(work, { fingerprint: asked.fingerprint, body }))
      return { work: { ...work, body }, ...hold };
    throw storageUnavailable('The request could not be stored in time.');
  }

  /** The latest of that id. @param tenant undefined: of any tenant */
  named(requestId: string, tenant: string | undefined): Promise<StoredRequest | undefined> {
    return this.store.findById(requestId, tenant);
  }

  /** The same work as it is now. Undefined: it is gone, or only its caller can run it again. */
  async now(work: StoredRequest): Promise<StoredRequest | undefined> {
    const found = await this.store.find(work);
    if (found?.blob !== work.blob) return undefined;
    const isLost = found.lapsed && isCallersOnly(found) && !this.leases.isPatient();
    return isLost ? undefined : found;
  }

  /** True: it ran, wherever, and cannot complete. `cancelled`: it was, before or just now. */
  async cancel({ tenant, requestId }: StoredRequest): Promise<boolean | 'cancelled'> {
    if (await this.store.requestCancel(tenant, requestId)) return true;
    return (await this.named(requestId, tenant))?.status === 'cancelled' && 'cancelled';
  }

  /** Stores the answer, and ends the attempt with it. One that breaks off has failed. */
  async answer(work: StoredRequest, status: StoredEnd, answer: WorkAnswer): Promise<EndOutcome> {
    const kept = await this.answers.store(work, answer, answer.body);
    return this.end(work, { status: kept.isWhole ? status : 'failed', answer: kept.answer });
  }

  /**
   * Ends an attempt that has run here, whose answer is stored. With the database away it
   * waits.
   * @param fullForMs how long it waits for room; absent: without limit
   */
  async end(
    work: StoredRequest,
    ending: Omit<StoredEnding, 'keepMs'>,
    fullForMs?: number,
  ): Promise<EndOutcome> {
    const { keepMs } = this.settings.requests;
    const write = () => this.store.end(work, { ...ending, keepMs });
    const outcome = await this.retries.written(write, fullForMs);
    if (outcome === 'ended' && work.body) await this.answers.removeBody(work);
    return outcome;
  }

  /**
   * As if it had never come, row and bytes; if the database is away, its lease expires.
   * Never rejects.
   */
  async drop(work: StoredRequest): Promise<void> {
    try {
      await this.store.drop(work);
      await this.answers.remove([work]);
    } catch (error) {
      this.#logger.warn({ reason: (error as Error).message }, 'a request was not removed');
    }
  }
}

/** It has not ended, and no gateway would take it over: its body is not stored. */
export const isCallersOnly = ({ mode, status }: StoredRequest): boolean =>
  status === 'receiving' || (mode === 'waiting' && status === 'running');

import { Injectable, Logger, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { type Subscription } from 'rxjs';
import {
  decodeJobError,
  type LoadedResult,
  type JobCompleted,
  type JobValue,
} from '../../contracts/queue-jobs/job-result.js';
import { type StopReason } from '../../contracts/queue-jobs/queue-messages.js';
import { DomainError } from '../../core/shared/domain-error.js';
import { Lease } from '../../core/shared/lease.js';
import { type JobEvent } from '../shared-queue/job-watch.js';
import { SpeechFeed } from '../shared-queue/speech-feed.js';
import { SharedQueue } from '../shared-queue/shared-queue.service.js';
import { WorkerPoolService } from '../worker-pool/worker-pool.service.js';
import { planeReply } from './shared-queue-mapper.js';
import { RequestRegistry } from './request-registry.js';
import { RequestFailures } from './request-failures.js';
import { SharedDeadlines } from './shared-deadlines.js';
import { type SharedRequest } from './shared-request.js';
import { lostMidway, SpeechRelay } from './speech-relay.js';

/** What the shared queue tells of requests of this gateway, told on: to the book, and by it to callers, metrics and feeds. */
@Injectable()
export class SharedRequests implements OnModuleInit, OnApplicationShutdown {
  readonly #logger = new Logger(SharedRequests.name);
  readonly #live = new Map<string, SharedRequest>();
  readonly #relays = new Map<string, SpeechRelay>();
  #subscription: Subscription | undefined;

  constructor(
    private readonly plane: SharedQueue,
    private readonly book: RequestRegistry,
    private readonly failures: RequestFailures,
    private readonly deadlines: SharedDeadlines,
    private readonly pool: WorkerPoolService,
    private readonly feed: SpeechFeed,
  ) {}

  onModuleInit(): void {
    this.#subscription = this.plane.news$.subscribe(news => {
      const shared = this.#live.get(news.ref.jobId);
      if (shared) this.#hear(shared, news);
    });
  }

  onApplicationShutdown(): void {
    this.#subscription?.unsubscribe();
  }

  /** Accepts it; from now on its deadlines run, and it can be cancelled. */
  open(shared: SharedRequest): void {
    const { tracked, ref } = shared;
    this.#live.set(ref.jobId, shared);
    tracked.line = { stop: reason => this.plane.stop(ref, reason) };
    void tracked.settled.then(() => this.#close(shared));
    this.book.open(tracked);
    this.deadlines.waits(shared);
  }

  /** Before its job is queued: speech is sent on while its worker makes it. Never rejects. */
  async listen({ tracked, ref }: SharedRequest): Promise<void> {
    const { payload } = tracked.request;
    if (payload.kind !== 'synthesize' || !this.#live.has(ref.jobId)) return;
    const relay = new SpeechRelay(payload.sink);
    this.#relays.set(ref.jobId, relay);
    let asked = false;
    await this.feed.listen(ref, piece => {
      const held = relay.piece(piece);
      // The event that a worker has it comes on another connection, and may be late.
      if (held && !asked) void this.plane.confirm(ref);
      asked ||= held;
    });
  }

  fail({ tracked }: SharedRequest, error: unknown): void {
    if (error instanceof DomainError) return void this.book.settle(tracked, { status: 'failed', error });
    this.#logger.error({ err: error, requestId: tracked.id }, 'a request of the shared queue failed without a code');
    this.book.settle(tracked, this.failures.unexpected(error));
  }

  #close(shared: SharedRequest): void {
    this.#live.delete(shared.ref.jobId);
    if (this.#relays.delete(shared.ref.jobId)) this.feed.forget(shared.ref);
    this.deadlines.over(shared);
    this.plane.forget(shared.ref);
    this.book.released(shared.tracked.key);
    void this.plane.discard(shared.placed);
  }

  #hear(shared: SharedRequest, news: JobEvent): void {
    switch (news.type) {
      case 'taken':
        return this.#taken(shared, news.workerId, news.promoted);
      case 'returned':
        return this.#returned(shared);
      case 'finished':
        void shared.tracked.settled.then(() => this.plane.answered(shared.ref, news.blob));
        return this.#finished(shared, news.result);
      case 'stopped':
        return this.#stopped(shared, news.reason);
      case 'lost':
        return this.#lost(shared);
      case 'unreadable':
        return this.fail(shared, new DomainError('engine_failed', 'The worker answered with something unreadable.'));
    }
  }

  #taken(shared: SharedRequest, workerId: string, aged: boolean): void {
    const { tracked } = shared;
    const { request } = tracked;
    if (tracked.lifecycle.state !== 'queued') return;
    // Its slot is the worker's own business: nothing is leased here.
    const lease = new Lease(() => undefined);
    const member = { request, lease, batchWaitMs: 0, aged };
    const groupId = shared.ref.jobId;
    this.book.leased(tracked, { groupId, model: request.model, workerId, reason: 'pulled', members: [member] }, member);
    this.book.sent(tracked);
    this.deadlines.taken(shared);
    this.#relays.get(shared.ref.jobId)?.open();
  }

  #returned(shared: SharedRequest): void {
    if (shared.tracked.lifecycle.state !== 'leased') return;
    if (this.#relays.get(shared.ref.jobId)?.begun) {
      this.fail(shared, lostMidway());
      return void this.plane.stop(shared.ref, 'disconnect');
    }
    this.book.released(shared.tracked.key);
    this.deadlines.returned(shared);
    this.book.requeued(shared.tracked, 'worker_lost', () => undefined);
  }

  #lost(shared: SharedRequest): void {
    const { model } = shared.tracked.request;
    const line = { hasReady: this.plane.hasReady(model), waiting: this.deadlines.waitingOf(model) };
    this.book.settle(shared.tracked, this.failures.workerLost(shared.tracked, undefined, line));
  }

  /** Another gateway was asked for that, or an operator there. */
  #stopped({ tracked }: SharedRequest, reason: StopReason): void {
    const { request } = tracked;
    if (reason === 'queue_timeout') this.book.settle(tracked, this.failures.expired(request));
    else this.book.settle(tracked, this.failures.stopped(request, reason));
  }

  #finished(shared: SharedRequest, result: LoadedResult): void {
    this.#taken(shared, result.phases.workerId, false);
    this.deadlines.answered(shared);
    if (result.outcome === 'failed') this.fail(shared, decodeJobError(result.error));
    else if (result.outcome === 'completed') {
      void this.#complete(shared, result).catch((error: unknown) => this.fail(shared, error));
    }
  }

  async #complete(shared: SharedRequest, result: JobCompleted<JobValue>): Promise<void> {
    const { tracked } = shared;
    const takenAtMs = this.deadlines.takenAtMs(tracked.key);
    if (takenAtMs !== undefined) this.book.grouped(tracked, takenAtMs, result.phases.batchWaitMs);
    this.pool.reported(tracked.request.model, result.execution);
    const { value } = result;
    const { payload } = tracked.request;
    if (value.kind === 'speech' && payload.kind === 'synthesize') {
      const relay = this.#relays.get(shared.ref.jobId) ?? new SpeechRelay(payload.sink);
      await relay.complete(value, (blob, from) => this.plane.read(blob, from));
    }
    this.book.settle(tracked, { status: 'completed', reply: planeReply(result) });
  }
}

import { Injectable } from '@nestjs/common';
import { DomainError } from '../../core/errors/domain-error.js';
import { ServiceTimes } from '../../core/latency/service-times.js';
import { type RequestKey } from '../../core/request/request-key.js';
import { type RequestPriority } from '../../core/request/request-priority.js';
import { type Settlement } from '../../core/request/settlement.js';
import { type WorkerReply } from '../../worker-client/worker-task.js';
import { StopErrors } from '../cancellation/stop-errors.js';
import { EmbeddedQueue } from '../queue/embedded-queue.js';
import { type QueueEnd, type QueueReports } from '../registry/request-queue.port.js';
import { RequestRegistry } from '../registry/request-registry.js';
import { type TrackedRequest } from '../registry/tracked-request.js';
import { observeCost } from '../registry/work-usage.js';
import { RequestErrors } from './request-errors.js';

/**
 * Gives requests to their queues, and brings what these report to the registry, and by it to
 * callers, metrics and feeds.
 */
@Injectable()
export class RequestReports implements QueueReports {
  constructor(
    private readonly registry: RequestRegistry,
    private readonly errors: RequestErrors,
    private readonly stops: StopErrors,
    private readonly times: ServiceTimes,
    embedded: EmbeddedQueue,
  ) {
    embedded.aged$.subscribe(key => this.#aged(key));
    embedded.expired$.subscribe(key => this.ended(key, { type: 'expired' }));
  }

  /**
   * Gives the request to its queue.
   * @param refusal why the queue should not take it
   * @returns why it is rejected; a shared queue may still reject it later
   */
  enter(record: TrackedRequest, refusal?: DomainError): DomainError | undefined {
    if (this.registry.record(record.key)) {
      const message = `A request with the id ${record.id} is still running.`;
      return new DomainError('duplicate_request_id', message);
    }
    const rejection = this.stops.unserved(record) ?? refusal;
    if (rejection) return rejection;
    this.registry.enter(record);
    const entered = record.queue.enqueue(record.request, this);
    if (entered !== 'accepted') return entered;
    this.registry.open(record);
    return undefined;
  }

  accepted(key: RequestKey): void {
    const entering = this.registry.entering(key);
    if (!entering) throw new Error(`request ${key} is accepted without having been submitted`);
    this.registry.open(entering);
  }

  rejected(key: RequestKey, error: DomainError): void {
    const tracked = this.registry.entering(key);
    if (tracked) this.registry.reject(tracked, error);
  }

  leased(
    key: RequestKey,
    { workerId, groupId, aged }: Parameters<QueueReports['leased']>[1],
  ): void {
    const tracked = this.registry.get(key);
    if (tracked?.state !== 'queued') return;
    this.registry.leased(
      tracked,
      { workerId, groupId, groupSize: 1, reason: 'pulled', batchWaitMs: 0 },
      aged,
    );
    tracked.sent(this.registry.nowMs());
  }

  requeued(key: RequestKey, lost: boolean): void {
    const tracked = this.registry.get(key);
    if (tracked?.state === 'leased')
      this.registry.requeued(tracked, lost ? 'worker_lost' : 'shutting_down');
  }

  reprioritized(key: RequestKey, priority: RequestPriority): void {
    const tracked = this.registry.get(key);
    if (tracked) this.registry.reprioritized(tracked, priority);
  }

  computed(key: RequestKey, groupedAtMs: number, batchWaitMs: number): void {
    this.registry.get(key)?.grouped(groupedAtMs, batchWaitMs);
  }

  ended(key: RequestKey, end: QueueEnd): void {
    const tracked = this.registry.get(key);
    if (!tracked) return;
    // Its worker charged the tenant; estimates are learned here.
    if (end.type === 'completed') observeCost(this.times, tracked.request, end.reply);
    this.registry.settle(tracked, this.#settlement(tracked, end));
  }

  /** Counted when it happens, however the request ends (D-03). */
  #aged(key: RequestKey): void {
    const tracked = this.registry.get(key);
    if (tracked) this.registry.promoted(tracked);
  }

  #settlement(tracked: TrackedRequest, end: QueueEnd): Settlement<WorkerReply> {
    switch (end.type) {
      case 'completed':
        return { status: 'completed', reply: end.reply };
      case 'expired':
        return this.errors.expired(tracked);
      case 'lost':
        return this.errors.workerLost(tracked, undefined);
      case 'stopped':
        return this.stops.stopped(tracked.request, end.reason);
      case 'failed':
        // Taken too late: the worker knows no deadline but that of the queue.
        if (tracked.request.deadline && isLate(end.error)) return this.errors.expired(tracked);
        return this.errors.reported(tracked, end.error);
    }
  }
}

const isLate = (error: unknown): boolean =>
  error instanceof DomainError && error.code === 'queue_timeout';

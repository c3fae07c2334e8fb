import { Injectable } from '@nestjs/common';
import { type RequestQueuePort } from '../../core/dispatch/request-queue.port.js';
import { type RequestKey } from '../../core/request/request-key.js';
import { type ScheduledRequest } from '../../core/request/scheduled-request.js';
import { type DomainError } from '../../core/shared/domain-error.js';
import { SharedRequestQueue } from '../shared-queue/shared-request-queue.js';
import { type WorkerReply, type WorkerTask } from '../worker-pool/worker-task.js';
import { EmbeddedQueue } from './embedded-queue.js';
import { RequestReports } from './request-reports.js';
import { TrackedRequest } from './tracked-request.js';

/** The queues that requests can wait in: the embedded one, and the one that gateways share (`queue.driver`, D-19). */
@Injectable()
export class RequestQueues {
  readonly all: readonly RequestQueuePort<WorkerTask, WorkerReply>[];

  constructor(
    shared: SharedRequestQueue,
    private readonly embedded: EmbeddedQueue,
    private readonly reports: RequestReports,
  ) {
    // The embedded queue accepts whatever the shared one does not.
    this.all = [shared, embedded];
  }

  /** Estimates the cost of a request and chooses its queue. */
  track(request: ScheduledRequest<WorkerTask>): TrackedRequest {
    const estimated = { ...request, costMs: this.embedded.estimateMs(request) };
    return new TrackedRequest(estimated, this.#for(estimated));
  }

  #for(request: ScheduledRequest<WorkerTask>): RequestQueuePort<WorkerTask, WorkerReply> {
    const queue = this.all.find(candidate => candidate.accepts(request));
    if (!queue) throw new Error(`no queue accepts request ${request.id}`);
    return queue;
  }

  /** Undefined: the request is accepted, or its queue reports later whether it is. */
  enqueue({ queue, request }: TrackedRequest): DomainError | undefined {
    return queue.enqueue(request, this.reports);
  }

  /** True while a worker has the request, also when its caller has been answered. */
  isLeased(key: RequestKey): boolean {
    return this.all.some(queue => queue.isLeased(key));
  }
}

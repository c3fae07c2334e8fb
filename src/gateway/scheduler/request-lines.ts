import { Injectable } from '@nestjs/common';
import { Dispatcher } from '../../core/dispatch/dispatcher.js';
import { type RequestKey } from '../../core/request/request-key.js';
import { type DomainError } from '../../core/shared/domain-error.js';
import { ProcessClock } from '../../platform/clock/monotonic-clock.js';
import { type WorkerTask } from '../worker-pool/worker-task.js';
import { RequestRegistry } from './request-registry.js';
import { SharedIntake } from './shared-intake.js';
import { type TrackedRequest } from './tracked-request.js';

/** Which queue a request waits in: this gateway's own, or the one that gateways share (`queue.driver`, D-19). */
@Injectable()
export class RequestLines {
  constructor(
    private readonly dispatcher: Dispatcher<WorkerTask>,
    private readonly shared: SharedIntake,
    private readonly book: RequestRegistry,
    private readonly clock: ProcessClock,
  ) {}

  /** True while the id cannot be used again: it is on its way in, runs, or a worker still computes it for nobody. */
  isTaken(key: RequestKey): boolean {
    return this.book.isTaken(key) || this.shared.isEntering(key);
  }

  /** Refused with what is returned; undefined: it waits, or the shared queue says later that it may not. */
  enter(tracked: TrackedRequest): DomainError | undefined {
    if (this.shared.takes(tracked.request)) return void this.shared.enter(tracked);
    const submission = this.dispatcher.submit(tracked.request, this.clock.nowMs());
    if (!submission.accepted) return submission.error;
    this.book.open(tracked);
    return undefined;
  }

  /** Stops what is on its way in. False: there is no such request. */
  stopEntering(key: RequestKey, error: DomainError): boolean {
    return this.shared.stop(key, error);
  }
}

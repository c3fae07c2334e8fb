import { Injectable } from '@nestjs/common';
import { DomainError } from '../../core/errors/domain-error.js';
import { inferenceTimeout } from '../../core/request/device-progress.js';
import { type ScheduledRequest } from '../../core/request/scheduled-request.js';
import { type CancelReason } from '../../core/request/settlement.js';
import { Settings } from '../../platform/config/settings.js';
import { shuttingDown } from '../../platform/http/passing-errors.js';
import { type Unanswered } from '../registry/submitted-request.js';
import { type TrackedRequest } from '../registry/tracked-request.js';
import { WorkerPoolService } from '../worker-pool/worker-pool.service.js';

/** An operator who unloads a model has no date for its return. */
const UNLOADED_RETRY_MS = 30_000;

const CANCELLED = {
  client: 'The request was cancelled by its caller.',
  disconnect: 'The client went away before the answer.',
  operator: 'The request was cancelled by an operator.',
};

/** How requests end that are stopped, by the reason. */
@Injectable()
export class StopErrors {
  constructor(
    private readonly pool: WorkerPoolService,
    private readonly settings: Settings,
  ) {}

  /**
   * Settlement of a request that is stopped. Only stops by its caller or an
   * operator count as cancelled (D-09).
   */
  stopped(request: ScheduledRequest, reason: CancelReason): Unanswered {
    switch (reason) {
      case 'client':
      case 'disconnect':
      case 'operator': {
        const error = new DomainError('request_cancelled', CANCELLED[reason]);
        return { status: 'cancelled', error };
      }
      case 'deadline':
        return failed(inferenceTimeout(request.inferenceTimeoutMs));
      case 'silence': {
        const { generationIdleMs } = this.settings.inference;
        const message = `The worker sent nothing for ${generationIdleMs} ms in mid-answer.`;
        return failed(new DomainError('inference_timeout', message));
      }
      case 'shutdown':
        return failed(shuttingDown());
      case 'unload':
        return failed(unloaded(request.model));
      case 'load_failed':
        return failed(this.pool.of(request.model)?.loadFailure ?? unloaded(request.model));
    }
  }

  /** Why no worker will serve the request; undefined: one does, or may become ready. */
  unserved({ request, queue }: TrackedRequest): DomainError | undefined {
    const { model } = request;
    const workers = this.pool.of(model);
    if (workers?.isHeld) return unloaded(model);
    const failure = workers?.loadFailure;
    // Workers that pull may be those of another gateway.
    return failure && !queue.backlog(request).hasReady ? failure : undefined;
  }
}

function unloaded(model: string): DomainError {
  const message = `The model ${model} has been unloaded by an operator.`;
  return new DomainError('model_unloaded', message, { retryAfterMs: UNLOADED_RETRY_MS });
}

const failed = (error: DomainError): Unanswered => ({ status: 'failed', error });

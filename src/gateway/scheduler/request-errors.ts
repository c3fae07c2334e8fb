import { Injectable, Logger } from '@nestjs/common';
import { isUpstreamAway } from '@switchyard/worker-protocol/report-check.js';
import { DomainError, type ErrorCode } from '../../core/errors/domain-error.js';
import { Admission } from '../../core/queue/admission.js';
import { missed } from '../../core/queue/latest-start.js';
import { WorkerLostError } from '../../core/request/worker-lost.js';
import { ProcessClock } from '../../platform/clock/process-clock.js';
import { Settings } from '../../platform/config/settings.js';
import { type SchedulerQueue } from '../registry/request-queue.port.js';
import { type Unanswered } from '../registry/submitted-request.js';
import { type TrackedRequest } from '../registry/tracked-request.js';
import { WorkerPoolService } from '../worker-pool/worker-pool.service.js';

/**
 * Errors of requests that end without an answer and were not stopped, with a Retry-After where
 * one helps.
 */
@Injectable()
export class RequestErrors {
  readonly #logger = new Logger(RequestErrors.name);

  constructor(
    private readonly admission: Admission,
    private readonly pool: WorkerPoolService,
    private readonly clock: ProcessClock,
    private readonly settings: Settings,
  ) {}

  /**
   * Its queue deadline passed (D-07), or its latest start (D-26). The code and the
   * Retry-After depend on what was missing: a slot, or any worker.
   */
  expired({ request, queue }: TrackedRequest): Unanswered {
    const { model, deadline } = request;
    if (deadline) return { status: 'failed', error: missed(deadline) };
    const { timeoutMs } = this.settings.queue;
    const backlog = queue.backlog(request);
    if (backlog.hasReady) {
      const message = `No slot of ${model} became free within ${timeoutMs} ms.`;
      return failed('queue_timeout', message, this.#backlogMs(model, backlog));
    }
    // A crashed worker is restarted, and an absent upstream probed, at least this often.
    const retryAfterMs = this.settings.workers.restartMaxMs;
    const { workers = [] } = this.pool.of(model)?.view() ?? {};
    if (workers.some(({ health }) => health && isUpstreamAway(health))) {
      const message = `The upstream of ${model} cannot be reached; waited ${timeoutMs} ms for it.`;
      return failed('upstream_unavailable', message, retryAfterMs);
    }
    return failed(
      'no_worker',
      `No worker of ${model} is up; waited ${timeoutMs} ms for one.`,
      retryAfterMs,
    );
  }

  /** Its worker gave it back, and it cannot be sent again (D-06). */
  workerLost(lost: TrackedRequest, cause: unknown): Unanswered {
    const { request, queue, lossCode, attempts } = lost;
    if (lossCode === 'worker_crashed') {
      const alone = `The request ended its worker of ${request.model} twice while nothing else ran there`;
      return failed(lossCode, `${alone}; it had ${attempts} attempts.`, undefined, cause);
    }
    const message = `${lossOf(cause, request.model)}, and ${whyNotAgain(lost)}.`;
    return failed(
      'worker_lost',
      message,
      this.#backlogMs(request.model, queue.backlog(request)),
      cause,
    );
  }

  /** Its worker failed it. Without a code that is a defect, not a condition: the log has it. */
  reported({ id: requestId }: TrackedRequest, error: unknown): Unanswered {
    if (error instanceof DomainError) return { status: 'failed', error };
    this.#logger.error({ err: error, requestId }, 'a request failed without an error code');
    return failed('internal_error', 'The request could not be run.', undefined, error);
  }

  #backlogMs(model: string, { waiting, startInMs }: ReturnType<SchedulerQueue['backlog']>): number {
    return this.admission.retryAfterMs(model, waiting, this.clock.nowMs(), startInMs);
  }
}

/** What happened to the last worker. Its own messages and addresses stay in the log. */
function lossOf(cause: unknown, model: string): string {
  switch (cause instanceof WorkerLostError && cause.kind) {
    case 'draining':
      return `A worker of ${model} stopped taking work`;
    case 'unsent':
      return `A worker of ${model} went away before the request was sent`;
    case 'refused':
      return `A worker of ${model} refused the request as unavailable`;
    default:
      return `The connection to a worker of ${model} was lost while it had the request`;
  }
}

const whyNotAgain = ({ outputStarted, attempts }: TrackedRequest): string =>
  outputStarted
    ? 'part of the answer had been sent already'
    : `it was not tried again after ${attempts} attempts`;

function failed(
  code: ErrorCode,
  message: string,
  retryAfterMs?: number,
  cause?: unknown,
): Unanswered {
  return {
    status: 'failed',
    error: new DomainError(code, message, { retryAfterMs, cause }),
  };
}

import { Inject, Injectable } from '@nestjs/common';
import { type RequestKey, requestKey } from '../../core/request/request-key.js';
import { inferenceTimeoutMs } from '../../core/request/request-timeout.js';
import { type CancelReason } from '../../core/request/settlement.js';
import { type ScheduledRequest } from '../../core/request/scheduled-request.js';
import { DomainError } from '../../core/shared/domain-error.js';
import { ProcessClock } from '../../platform/clock/monotonic-clock.js';
import { MODELS } from '../../platform/config/config.module.js';
import { type ModelSpec } from '../../platform/config/model-spec.js';
import { SETTINGS, type Settings } from '../../platform/config/settings.js';
import { shuttingDown } from '../../platform/http/passing-errors.js';
import { type WorkerTask } from '../worker-pool/worker-task.js';
import { RequestRegistry } from './request-registry.js';
import { RequestFailures } from './request-failures.js';
import { RequestLines } from './request-lines.js';
import { type RequestSpec, type SubmittedRequest } from './submitted-request.js';
import { TrackedRequest } from './tracked-request.js';

/** The way in: checks, stamps, queues. Closed for good when the server drains. */
@Injectable()
export class RequestIntake {
  #accepting = true;
  readonly #models: ReadonlySet<string>;

  constructor(
    private readonly lines: RequestLines,
    private readonly book: RequestRegistry,
    private readonly failures: RequestFailures,
    private readonly clock: ProcessClock,
    @Inject(SETTINGS) private readonly settings: Settings,
    @Inject(MODELS) models: readonly ModelSpec[],
  ) {
    this.#models = new Set(models.map(({ id }) => id));
  }

  get accepting(): boolean {
    return this.#accepting;
  }

  close(): void {
    this.#accepting = false;
  }

  /**
   * Throws `shutting_down`, `duplicate_request_id`, `model_unloaded`, `queue_full`, or `model_not_found` for an id that is not
   * configured. A shared queue refuses later: then `settled` has failed.
   */
  submit(spec: RequestSpec): SubmittedRequest {
    // Lanes and metric labels are made from model ids: only those of the configuration may get this far (D-10).
    if (!this.#models.has(spec.model)) throw new DomainError('model_not_found', `There is no model ${spec.model}.`);
    const tracked = new TrackedRequest(this.#schedule(spec));
    const refusal = this.#refusal(tracked);
    if (refusal) {
      this.book.emit(tracked, { type: 'rejected', code: refusal.code });
      throw refusal;
    }
    const { id, tenant, key } = tracked.request;
    return { id, tenant, key, settled: tracked.settled };
  }

  /** Stops what is on its way into the shared queue. False: there is no such request. */
  stop(key: RequestKey, reason: CancelReason): boolean {
    return this.lines.stopEntering(key, this.failures.stoppedEarly(reason));
  }

  /** Undefined: the request is queued now, or on its way into the shared queue. */
  #refusal(tracked: TrackedRequest): DomainError | undefined {
    if (!this.#accepting) return shuttingDown();
    if (this.lines.isTaken(tracked.key)) {
      return new DomainError('duplicate_request_id', `A request with the id ${tracked.id} is still running.`);
    }
    const unloaded = this.failures.unloaded(tracked.request.model);
    if (unloaded) return unloaded;
    return this.lines.enter(tracked);
  }

  #schedule(spec: RequestSpec): ScheduledRequest<WorkerTask> {
    const { id, model, priority, tenant, affinity, bytes, payload } = spec;
    const { queue, inference } = this.settings;
    const nowMs = this.clock.nowMs();
    const policy = { minMs: inference.timeoutMinMs, factor: inference.timeoutFactor };
    return {
      ...{ id, key: requestKey({ tenant, id }), model, priority, tenant, bytes, payload },
      ...(affinity !== undefined && { affinity }),
      enqueuedAtMs: nowMs,
      queueDeadlineMs: nowMs + queue.timeoutMs,
      inferenceTimeoutMs: spec.timeoutMs ?? inferenceTimeoutMs(spec.audioDurationS, policy),
    };
  }
}

import { Injectable } from '@nestjs/common';
import { DomainError } from '../../core/errors/domain-error.js';
import { requestKey } from '../../core/request/request-key.js';
import { ModelList } from '../../platform/config/config.module.js';
import { Settings } from '../../platform/config/settings.js';
import { shuttingDown } from '../../platform/http/passing-errors.js';
import { type TaskRequest } from '../../worker-client/worker-task.js';
import { RequestQueues } from '../queue/request-queues.js';
import { RequestRegistry } from '../registry/request-registry.js';
import { type RequestSpec } from '../registry/submitted-request.js';
import { type TrackedRequest } from '../registry/tracked-request.js';
import { RequestReports } from './request-reports.js';
import { inferenceTimeoutMs } from './request-timeout.js';
import { Suspects } from './suspects.js';

/**
 * Checks requests, stamps them and gives them to their queue. Closed for good when
 * the server drains.
 */
@Injectable()
export class RequestIntake {
  #accepting = true;

  constructor(
    private readonly queues: RequestQueues,
    private readonly registry: RequestRegistry,
    private readonly reports: RequestReports,
    private readonly settings: Settings,
    private readonly models: ModelList,
    private readonly suspects: Suspects,
  ) {}

  /** False for good once it was closed. */
  get accepting(): boolean {
    return this.#accepting;
  }

  close(): void {
    this.#accepting = false;
  }

  /**
   * Throws `shutting_down`, `duplicate_request_id`, `model_unloaded`,
   * `model_load_failed`, `deadline_unreachable`, `worker_crashed`, `queue_full`, or `model_not_found` for
   * an id that is not configured. A shared queue rejects later: then `settled` resolves
   * with a failure.
   */
  submit(spec: RequestSpec): TrackedRequest {
    // Queues and metric labels are made from model ids: only configured ones may get
    // this far (D-10).
    if (!this.models.find(spec.model))
      throw new DomainError('model_not_found', `There is no model ${spec.model}.`);
    this.suspects.demandHarmless(spec.model, spec.payload);
    const { record, refusal } = this.queues.track(this.#schedule(spec), spec.deadlines);
    const rejection = this.#accepting ? this.reports.enter(record, refusal) : shuttingDown();
    if (rejection === undefined) return record;
    this.registry.reject(record, rejection);
    throw rejection;
  }

  #schedule(spec: RequestSpec): TaskRequest {
    const { audioDurationS, timeoutMs, deadlines: _, ...asked } = spec;
    const { queue, inference } = this.settings;
    const nowMs = this.registry.nowMs();
    return {
      ...asked,
      ...this.suspects.placement(asked.model, asked.tenant),
      key: requestKey({ tenant: asked.tenant, id: asked.id }),
      // Charged until its device time is known (D-25).
      costMs: this.queues.costMs(asked),
      enqueuedAtMs: nowMs,
      queueDeadlineMs: nowMs + queue.timeoutMs,
      inferenceTimeoutMs: timeoutMs ?? inferenceTimeoutMs(audioDurationS, inference),
    };
  }
}

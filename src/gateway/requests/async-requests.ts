import { Injectable } from '@nestjs/common';
import { type FastifyReply } from 'fastify';
import { type StoredRequest } from '../../core/request/stored-request.js';
import { SchedulerService } from '../scheduler/scheduler.service.js';
import { StoredAnswers, type WorkAnswer } from '../stored-work/stored-answers.js';
import { type WorkRunner, type WorkRunOptions, WorkRuns } from '../stored-work/work-runs.js';
import { InnerRequests } from './inner-requests.js';

/** Requests whose callers do not wait: on any gateway they go through their own routes. */
@Injectable()
export class AsyncRequests implements WorkRunner {
  constructor(
    runs: WorkRuns,
    private readonly answers: StoredAnswers,
    private readonly inner: InnerRequests,
    private readonly scheduler: SchedulerService,
  ) {
    runs.runWith(this);
  }

  async run(work: StoredRequest, { gone: caller }: WorkRunOptions): Promise<WorkAnswer> {
    return this.inner.run({ ...work, ...(await this.answers.openBody(work)), caller });
  }

  /** 202, with the time at which its answer will probably be there, if that is known. */
  async accept(
    { requestId, tenant, status, createdAtMs }: StoredRequest,
    reply: FastifyReply,
  ): Promise<undefined> {
    const location = `/v1/requests/${requestId}`;
    const etaMs = await this.scheduler.etaMs({ tenant, id: requestId }).catch(() => undefined);
    void reply
      .code(202)
      .headers({ location, 'preference-applied': 'respond-async' })
      .headers(etaMs === undefined ? {} : { 'retry-after': Math.max(1, Math.ceil(etaMs / 1000)) })
      .send({
        request_id: requestId,
        status: status === 'completed' ? status : 'queued',
        created_at: Math.floor(createdAtMs / 1000),
        location,
        eta_s: etaMs && Math.round(etaMs / 100) / 10,
      });
  }
}

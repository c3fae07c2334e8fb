import { Injectable, type OnModuleInit } from '@nestjs/common';
import {
  type ResponseEvent,
  type ResponseObject,
} from '../../../contracts/openai/responses.js';
import { type ResponseRef } from '../../../core/request/response-record.js';
import { DomainError } from '../../../core/errors/domain-error.js';
import { AsyncRequests } from '../../requests/async-requests.js';
import { SchedulerService } from '../../scheduler/scheduler.service.js';
import { type ResponseWriter } from '../response-writer.js';
import { BACKGROUND_PATH } from './background-runner.js';
import { isOpen, ResponseRecords, responseOfRecord } from './response-records.js';
import { ResponseRuns } from './response-runs.js';
import { StoredRequestStore } from '../../../platform/database/stored-request-store.js';

/** Ends background responses from outside, whichever gateway runs them. */
@Injectable()
export class ResponseStops implements OnModuleInit {
  constructor(
    private readonly runs: ResponseRuns,
    private readonly requests: StoredRequestStore,
    private readonly records: ResponseRecords,
    private readonly scheduler: SchedulerService,
    private readonly asyncs: AsyncRequests,
  ) {}

  onModuleInit(): void {
    this.asyncs.stopWith(BACKGROUND_PATH, ({ tenant, requestId: id }) =>
      this.stop({ tenant, id }),
    );
  }

  /**
   * @throws DomainError `response_not_found`, or `invalid_value` for one that does not
   *   run in the background
   */
  async cancel(tenant: string, id: string): Promise<ResponseObject> {
    const { background } = responseOfRecord(await this.records.get(tenant, id));
    if (!background) {
      const message = `Only background responses can be cancelled; \`${id}\` was created without \`background\`.`;
      throw new DomainError('invalid_value', message, { param: 'response_id' });
    }
    await this.stop({ tenant, id });
    return responseOfRecord(await this.records.get(tenant, id));
  }

  /** @returns false: it had ended */
  async stop(ref: ResponseRef): Promise<boolean> {
    const isStopped = await this.endWith(ref, writer => writer.cancel());
    if (isStopped) await this.#abort(ref);
    return isStopped;
  }

  /**
   * Ends a response if it has not ended; the run that has it, on any gateway, cannot
   * write any more.
   */
  async endWith(
    ref: ResponseRef,
    last: (writer: ResponseWriter) => readonly ResponseEvent[],
  ): Promise<boolean> {
    const run = await this.runs.begin(ref);
    await run?.end(last(run.writer));
    return run !== undefined;
  }

  /** One that runs is stopped. @throws DomainError `response_not_found` */
  async remove(tenant: string, id: string): Promise<void> {
    const head = await this.records.head({ tenant, id });
    await this.records.remove({ tenant, id });
    if (isOpen(head)) await this.#abort({ tenant, id });
  }

  /** The gateway that runs it stops the generation. */
  async #abort({ tenant, id }: ResponseRef): Promise<void> {
    await this.requests.requestCancel(tenant, id);
    await this.scheduler.cancel({ tenant, id }, 'client');
  }
}

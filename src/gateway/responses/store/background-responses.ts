import { Readable } from 'node:stream';
import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { errorEnvelope } from '../../../contracts/openai/error-envelope.js';
import { type ResponseEvent, type ResponseObject } from '../../../contracts/openai/responses.js';
import { RequestPriority } from '../../../core/request/request-priority.js';
import {
  type ResponseRecord,
  type ResponseRecordStore,
  type ResponseRef,
} from '../../../core/request/response-record.port.js';
import { type StoredRequest, type StoredRequestStore } from '../../../core/request/stored-request.port.js';
import { DomainError } from '../../../core/shared/domain-error.js';
import { SETTINGS, type Settings } from '../../../platform/config/settings.js';
import { RESPONSE_RECORDS, STORED_REQUEST_STORE } from '../../../platform/database/database.tokens.js';
import { ModelCatalog } from '../../models/model-catalog.js';
import { AsyncRequests } from '../../requests/async-requests.js';
import { type InnerAnswer } from '../../requests/inner-requests.js';
import { StoredAnswers } from '../../requests/stored-answers.js';
import { StoredLeases } from '../../requests/stored-leases.js';
import { SchedulerService } from '../../scheduler/scheduler.service.js';
import { TextGenerationService } from '../../text/text-generation.service.js';
import { generationOf } from '../response-generation.js';
import { type BackgroundResponse } from '../response-store.port.js';
import { ResponseWriter } from '../response-writer.js';
import { BackgroundRun, type BackgroundWork } from './background-run.js';
import { DurableEvents } from './durable-events.js';
import { ResponseEventLog } from './response-event-log.js';
import { allEvents } from './response-feed.js';
import { endingOf, ResponseRecords, responseOfRecord } from './response-records.js';

/** Of stored requests that are background responses; no route has it. */
const PATH = '/v1/responses/background';
const GONE_CODE = 499;

/**
 * Background responses are stored requests (`Prefer: respond-async`) with another runner: the same lease, the same
 * takeover by another gateway, the same bound on the gateways that may die over one.
 */
@Injectable()
export class BackgroundResponses implements OnModuleInit {
  constructor(
    @Inject(RESPONSE_RECORDS) private readonly store: ResponseRecordStore,
    @Inject(STORED_REQUEST_STORE) private readonly requests: StoredRequestStore,
    private readonly records: ResponseRecords,
    private readonly log: ResponseEventLog,
    private readonly asyncs: AsyncRequests,
    private readonly answers: StoredAnswers,
    private readonly leases: StoredLeases,
    private readonly scheduler: SchedulerService,
    private readonly catalog: ModelCatalog,
    private readonly generations: TextGenerationService,
    @Inject(SETTINGS) private readonly settings: Settings,
  ) {}

  onModuleInit(): void {
    this.asyncs.runWith(PATH, (request, early) => this.#run(request, early));
  }

  /** Resolves when it is queued and any gateway can run it. @throws DomainError when it was rejected */
  async start({ response, request, conversation, input, caller }: BackgroundResponse): Promise<void> {
    const { tenant, terms } = caller;
    const writer = new ResponseWriter(response);
    const events = writer.queued().map(event => JSON.stringify(event));
    const work: BackgroundWork = { request: { ...request, stream: true }, conversation, caller: { terms } };
    await this.records.create(tenant, { response: writer.response, input, request: JSON.stringify(work), events });
    try {
      const early = await this.#begin(tenant, response.id);
      if (early) throw early.error ?? new DomainError('internal_error', 'The response could not be queued.');
    } catch (error) {
      await this.store.remove({ tenant, id: response.id });
      throw error;
    }
  }

  /** @throws DomainError `response_not_found`, or `invalid_value` for one that does not run in the background */
  async cancel(tenant: string, id: string): Promise<ResponseObject> {
    const record = await this.records.get(tenant, id);
    const { background } = responseOfRecord(record);
    if (!background) {
      const message = `Only background responses can be cancelled; \`${id}\` was created without \`background\`.`;
      throw new DomainError('invalid_value', message, { param: 'response_id' });
    }
    await this.#stop(record);
    return responseOfRecord(await this.records.get(tenant, id));
  }

  /** Ends a response from outside; the run that has it, anywhere, cannot write any more. */
  async endWith(ref: ResponseRef, last: (writer: ResponseWriter) => readonly ResponseEvent[]): Promise<void> {
    const record = await this.store.begin(ref);
    if (!record) return;
    const writer = ResponseWriter.resumed(await allEvents(this.log, ref));
    const events = this.#events(record, writer);
    const made = last(writer);
    await events.end(made, this.#ending(writer.response));
  }

  async #stop(record: ResponseRecord): Promise<void> {
    await this.endWith(record, writer => writer.cancel());
    await this.abort(record);
  }

  /** The gateway that runs it stops the generation. */
  async abort({ tenant, id }: ResponseRef): Promise<void> {
    await this.requests.requestCancel(tenant, id);
    await this.scheduler.cancel({ tenant, id }, 'client');
  }

  async #begin(tenant: string, id: string) {
    const lease = this.leases.lease();
    const { nowMs } = lease;
    const { request } = await this.requests.open(
      {
        ...{ tenant, requestId: id, name: `response:${id}`, mode: 'async', path: PATH, status: 'running' },
        ...{ fingerprint: '', headers: {}, blob: this.answers.newBlob() },
        ...{ createdAtMs: nowMs, expiresAtMs: nowMs + this.settings.requests.keepMs },
      },
      lease,
    );
    return this.asyncs.begin(request, () => undefined);
  }

  async #run({ tenant, requestId: id }: StoredRequest, early: () => boolean): Promise<InnerAnswer> {
    const record = await this.store.begin({ tenant, id });
    if (record?.request === undefined) return answered(GONE_CODE, { id });
    const work = JSON.parse(record.request) as BackgroundWork;
    const writer = ResponseWriter.resumed(await allEvents(this.log, record));
    const events = this.#events(record, writer);
    const end = (last: readonly ResponseEvent[]) => events.end(last, this.#ending(writer.response));
    try {
      return answered(200, await this.#runner(record, work, { writer, events, end, early }).run());
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      return { ...answered(error.definition.status, errorEnvelope(error)), error };
    }
  }

  #runner(
    { tenant, id, createdAtMs }: ResponseRecord,
    { request, conversation, caller }: BackgroundWork,
    parts: Pick<BackgroundRunParts, 'writer' | 'events' | 'end' | 'early'>,
  ): BackgroundRun {
    const asked = { ...caller, tenant, id, priority: RequestPriority.BATCH };
    return new BackgroundRun({
      ...parts,
      generation: generationOf(request, conversation, this.catalog),
      start: (generation, output) => this.generations.start(asked, generation, output),
      giveUpAtMs: createdAtMs + this.settings.responses.backgroundMs,
      maxBufferedBytes: this.settings.generation.maxBufferedBytes,
    });
  }

  #events(record: ResponseRecord, { nextSequence }: ResponseWriter): DurableEvents {
    return new DurableEvents(this.log, record, nextSequence, this.settings.responses.flushBytes);
  }

  #ending(response: ResponseObject) {
    return endingOf(response, Date.now() + this.settings.responses.keepEventsMs);
  }
}

type BackgroundRunParts = ConstructorParameters<typeof BackgroundRun>[0];

const answered = (status: number, body: object): InnerAnswer => ({
  status,
  headers: { 'content-type': 'application/json; charset=utf-8' },
  body: Readable.from([Buffer.from(JSON.stringify(body))]),
});

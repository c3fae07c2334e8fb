import { Readable } from 'node:stream';
import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { errorEnvelope } from '../../../contracts/openai/error-envelope.js';
import { type ResponseEvent } from '../../../contracts/openai/responses.js';
import { RequestPriority } from '../../../core/request/request-priority.js';
import { type ResponseRecord, type ResponseRecordStore } from '../../../core/request/response-record.port.js';
import { type StoredRequest } from '../../../core/request/stored-request.port.js';
import { DomainError } from '../../../core/shared/domain-error.js';
import { SETTINGS, type Settings } from '../../../platform/config/settings.js';
import { RESPONSE_RECORDS } from '../../../platform/database/database.tokens.js';
import { ModelCatalog } from '../../models/model-catalog.js';
import { AsyncRequests } from '../../requests/async-requests.js';
import { type InnerAnswer } from '../../requests/inner-requests.js';
import { TextGenerationService } from '../../text/text-generation.service.js';
import { generationOf } from '../response-generation.js';
import { ResponseWriter } from '../response-writer.js';
import { BackgroundRun, type BackgroundRunOptions, type BackgroundWork } from './background-run.js';
import { DurableEvents } from './durable-events.js';
import { ResponseEventLog } from './response-event-log.js';
import { allEvents } from './response-feed.js';
import { endingOf } from './response-records.js';

/** Of stored requests that are background responses; no route has it. */
export const BACKGROUND_PATH = '/v1/responses/background';
/** The response was cancelled or deleted. */
const GONE_STATUS = 499;

/** Runs background responses of this gateway and those that it takes over, from what is durable of them. */
@Injectable()
export class BackgroundRunner implements OnModuleInit {
  constructor(
    @Inject(RESPONSE_RECORDS) private readonly store: ResponseRecordStore,
    private readonly log: ResponseEventLog,
    private readonly asyncs: AsyncRequests,
    private readonly catalog: ModelCatalog,
    private readonly generations: TextGenerationService,
    @Inject(SETTINGS) private readonly settings: Settings,
  ) {}

  onModuleInit(): void {
    this.asyncs.runWith(BACKGROUND_PATH, (request, early) => this.#run(request, early));
  }

  async #run({ tenant, requestId: id }: StoredRequest, early: () => boolean): Promise<InnerAnswer> {
    const record = await this.store.begin({ tenant, id });
    if (record?.request === undefined) return answered(GONE_STATUS, { id });
    const writer = ResponseWriter.resumed(await allEvents(this.log, record));
    const events = new DurableEvents(this.log, record, writer.nextSequence, this.settings.responses.flushBytes);
    const end = (last: readonly ResponseEvent[]): Promise<void> =>
      events.end(last, endingOf(writer.response, this.settings));
    try {
      await this.#runOf(record, { writer, events, end, early }).run();
      // What was said is stored once, so that it can be deleted.
      return answered(200, { id, object: 'response', status: writer.response.status });
    } catch (error) {
      // With the database away the outcome cannot be written: this run, or that of another gateway, begins again.
      if (!(error instanceof DomainError) || error.code === 'storage_unavailable') throw error;
      return { ...answered(error.definition.status, errorEnvelope(error)), error };
    }
  }

  #runOf(
    { tenant, id, request: json, createdAtMs }: ResponseRecord,
    parts: Pick<BackgroundRunOptions, 'writer' | 'events' | 'end' | 'early'>,
  ): BackgroundRun {
    const { request, conversation, caller } = JSON.parse(json!) as BackgroundWork;
    const asked = { ...caller, tenant, id, priority: RequestPriority.BATCH };
    return new BackgroundRun({
      ...parts,
      generation: () => generationOf(request, conversation, this.catalog),
      start: (generation, output) => this.generations.start(asked, generation, output),
      giveUpAtMs: createdAtMs + this.settings.responses.backgroundMs,
      maxBufferedBytes: this.settings.generation.maxBufferedBytes,
    });
  }
}

const answered = (status: number, body: object): InnerAnswer => ({
  status,
  headers: { 'content-type': 'application/json; charset=utf-8' },
  body: Readable.from([Buffer.from(JSON.stringify(body))]),
});

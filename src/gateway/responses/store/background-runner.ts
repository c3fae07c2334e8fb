import { Readable } from 'node:stream';
import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { errorEnvelope } from '../../../contracts/openai/error-envelope.js';
import { RequestPriority } from '../../../core/request/request-priority.js';
import { type StoredRequest } from '../../../core/request/stored-request.port.js';
import { DomainError } from '../../../core/shared/domain-error.js';
import { SETTINGS, type Settings } from '../../../platform/config/settings.js';
import { ModelCatalog } from '../../models/model-catalog.js';
import { AsyncRequests } from '../../requests/async-requests.js';
import { type InnerAnswer } from '../../requests/inner-requests.js';
import { TextGenerationService } from '../../text/text-generation.service.js';
import { generationOf } from '../response-generation.js';
import { BackgroundRun, type BackgroundWork } from './background-run.js';
import { type ResponseRunState, ResponseRuns } from './response-runs.js';
import { ResponseMetrics } from './responses.metrics.js';

/** Of stored requests that are background responses; no route has it. */
export const BACKGROUND_PATH = '/v1/responses/background';
/** The response was cancelled or deleted. */
const GONE_STATUS = 499;

/** Runs background responses of this gateway and those that it takes over, from what is durable of them. */
@Injectable()
export class BackgroundRunner implements OnModuleInit {
  constructor(
    private readonly runs: ResponseRuns,
    private readonly metrics: ResponseMetrics,
    private readonly asyncs: AsyncRequests,
    private readonly catalog: ModelCatalog,
    private readonly generations: TextGenerationService,
    @Inject(SETTINGS) private readonly settings: Settings,
  ) {}

  onModuleInit(): void {
    this.asyncs.runWith(BACKGROUND_PATH, (request, early) => this.#run(request, early));
  }

  async #run({ tenant, requestId: id }: StoredRequest, early: () => boolean): Promise<InnerAnswer> {
    const run = await this.runs.begin({ tenant, id });
    if (run?.record.request === undefined) return answered(GONE_STATUS, { id });
    this.metrics.begun(run.record.epoch > 1);
    try {
      await this.#runOf(run, early).run();
      // What was said is stored once, so that it can be deleted.
      return answered(200, { id, object: 'response', status: run.writer.response.status });
    } catch (error) {
      // With the database away the outcome cannot be written: this run, or that of another gateway, begins again.
      if (!(error instanceof DomainError) || error.code === 'storage_unavailable') throw error;
      return { ...answered(error.definition.status, errorEnvelope(error)), error };
    }
  }

  #runOf({ record, ...state }: ResponseRunState, early: () => boolean): BackgroundRun {
    const { tenant, id, createdAtMs } = record;
    const { request, conversation, caller } = JSON.parse(record.request!) as BackgroundWork;
    const asked = { ...caller, tenant, id, priority: RequestPriority.BATCH };
    return new BackgroundRun({
      ...state,
      early,
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

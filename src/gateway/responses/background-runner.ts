import { Readable } from 'node:stream';
import { Injectable, type OnModuleInit } from '@nestjs/common';
import { errorDefinition } from '../../contracts/errors/error-registry.js';
import { errorEnvelope } from '../../contracts/openai/error-envelope.js';
import { DomainError } from '../../core/errors/domain-error.js';
import { RequestPriority } from '../../core/request/request-priority.js';
import { type StoredRequest } from '../../core/request/stored-request.js';
import { Settings } from '../../platform/config/settings.js';
import { ModelCatalog } from '../models/model-catalog.js';
import { AsyncRequests, type StoredAttemptOptions } from '../requests/async-requests.js';
import { type InnerAnswer } from '../requests/inner-requests.js';
import { TextGenerationService } from '../text/text-generation.service.js';
import { BackgroundRun, type BackgroundWork } from './background-run.js';
import { generationOf } from './response-generation.js';
import { type ResponseRunState, ResponseRuns } from './response-runs.js';
import { ResponseMetrics } from './responses.metrics.js';

/** Of stored requests that are background responses; no route has it. */
export const BACKGROUND_PATH = '/v1/responses/background';
/** The response was cancelled or deleted. */
const GONE_STATUS = 499;

/**
 * Runs background responses of this gateway and those that it takes over, from what is
 * durable of them.
 */
@Injectable()
export class BackgroundRunner implements OnModuleInit {
  constructor(
    private readonly runs: ResponseRuns,
    private readonly metrics: ResponseMetrics,
    private readonly asyncs: AsyncRequests,
    private readonly catalog: ModelCatalog,
    private readonly generations: TextGenerationService,
    private readonly settings: Settings,
  ) {}

  onModuleInit(): void {
    this.asyncs.runWith(BACKGROUND_PATH, (request, attempt) =>
      this.#run(request, attempt),
    );
    this.asyncs.stopWith(BACKGROUND_PATH, ({ tenant, requestId: id }) =>
      this.runs.stop({ tenant, id }),
    );
  }

  async #run(
    { tenant, requestId: id }: StoredRequest,
    attempt: StoredAttemptOptions,
  ): Promise<InnerAnswer> {
    try {
      const run = await this.runs.begin({ tenant, id });
      if (run?.record.request === undefined) {
        // An attempt before this one ended it, or its client did.
        const status = await this.runs.statusOf({ tenant, id });
        return answered(status === 'cancelled' ? GONE_STATUS : 200, stateOf(id, status));
      }
      this.metrics.begun(run.record.epoch > 1);
      await this.#runOf(run, attempt).run();
      // What was said is stored once, so that it can be deleted.
      return answered(200, stateOf(id, run.writer.response.status));
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      return { ...answered(errorDefinition(error).status, errorEnvelope(error)), error };
    }
  }

  #runOf(
    { record, ...state }: ResponseRunState,
    attempt: StoredAttemptOptions,
  ): BackgroundRun {
    const { tenant, id, createdAtMs, request: json } = record;
    const { request, conversation, caller } = JSON.parse(json!) as BackgroundWork;
    const asked = { ...caller, tenant, id, priority: RequestPriority.BATCH };
    return new BackgroundRun({
      ...state,
      ...attempt,
      generation: () => generationOf(request, conversation, this.catalog),
      start: (generation, output) => this.generations.start(asked, generation, output),
      giveUpAtMs: createdAtMs + this.settings.responses.backgroundMs,
      maxBufferedBytes: this.settings.generation.maxBufferedBytes,
    });
  }
}

const stateOf = (id: string, status: string) => ({ id, object: 'response', status });

const answered = (status: number, body: object): InnerAnswer => ({
  status,
  headers: { 'content-type': 'application/json; charset=utf-8' },
  body: Readable.from([Buffer.from(JSON.stringify(body))]),
});

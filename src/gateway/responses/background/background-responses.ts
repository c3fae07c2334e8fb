import { Injectable } from '@nestjs/common';
import { STORED_BOUNDS, parseBoundedJson } from '@switchyard/engine-api/bounded-json.js';
import { writeJson } from '@switchyard/engine-api/exact-numbers.js';
import { type ResponseItem } from '../../../contracts/openai/response-items.js';
import { type ResponseRequest } from '../../../contracts/openai/responses.js';
import { DomainError } from '../../../core/errors/domain-error.js';
import { RequestPriority } from '../../../core/request/request-priority.js';
import { type StoredRequest } from '../../../core/request/stored-request.js';
import { Settings } from '../../../platform/config/settings.js';
import { counterMetric } from '../../../platform/metrics/metric-provider.js';
import { type InferenceCaller } from '../../inference/inference.service.js';
import { ModelCatalog } from '../../models/model-catalog.js';
import { type WorkAnswer } from '../../stored-work/stored-answers.js';
import { StoredWork } from '../../stored-work/stored-work.js';
import {
  jsonAnswer,
  type WorkRunner,
  type WorkRunOptions,
  WorkRuns,
} from '../../stored-work/work-runs.js';
import { TextGenerationService } from '../../text/text-generation.service.js';
import { type ResponseTurn } from '../stored/conversations.js';
import { ResponseRecords } from '../stored/response-records.js';
import { type ResponseRunState, ResponseRuns } from '../stored/response-runs.js';
import { generationOf } from '../writer/response-generation.js';
import { ResponseWriter } from '../writer/response-writer.js';
import { BackgroundRun } from './background-run.js';

/** What a background response is run from, on any gateway. */
interface BackgroundWork {
  readonly request: ResponseRequest;
  /** All of the conversation, the input of this turn at its end. */
  readonly conversation: readonly ResponseItem[];
  readonly caller: Pick<InferenceCaller, 'terms'>;
}

/** Of stored requests that are background responses; no route has it. */
const BACKGROUND_PATH = '/v1/responses/background';
/** The response was cancelled or deleted. */
const GONE_STATUS = 499;

/**
 * Background responses are stored work (`Prefer: respond-async`) that is run from what is
 * durable of them. How one ended is written in its record; its row follows.
 */
@Injectable()
export class BackgroundRunner implements WorkRunner {
  readonly #begun = counterMetric('switchyard_background_response_runs_total');

  constructor(
    runs: WorkRuns,
    private readonly responses: ResponseRuns,
    private readonly catalog: ModelCatalog,
    private readonly generations: TextGenerationService,
    private readonly settings: Settings,
  ) {
    runs.runWith(this, BACKGROUND_PATH);
  }

  stop(work: StoredRequest): Promise<boolean | 'cancelled'> {
    return this.responses.stop(refOf(work));
  }

  async fail(work: StoredRequest, error: DomainError): Promise<void> {
    await this.responses.endWith(refOf(work), writer => writer.fail(error));
  }

  async run(work: StoredRequest, options: WorkRunOptions): Promise<WorkAnswer> {
    const ref = refOf(work);
    const run = await this.responses.begin(ref);
    if (run?.record.request !== undefined) {
      this.#begun.inc({ kind: run.record.epoch > 1 ? 'resumed' : 'first' });
      await this.#runOf(run, options).run();
    }
    const status = await this.responses.statusOf(ref);
    const code = status === 'cancelled' ? GONE_STATUS : 200;
    // What was said is stored once, so that it can be deleted.
    return jsonAnswer(code, { id: ref.id, object: 'response', status });
  }

  #runOf({ record, ...state }: ResponseRunState, options: WorkRunOptions): BackgroundRun {
    const { tenant, id, createdAtMs, request: json } = record;
    const { request, conversation, caller } = parseBoundedJson(
      json!,
      STORED_BOUNDS,
    ) as BackgroundWork;
    const asked = { ...caller, tenant, id, priority: RequestPriority.BATCH };
    return new BackgroundRun({
      ...state,
      ...options,
      generation: () => generationOf(request, conversation, this.catalog.usableBy(caller)),
      start: (generation, output) => this.generations.start(asked, generation, output),
      giveUpAtMs: createdAtMs + this.settings.responses.backgroundMs,
    });
  }
}

const refOf = ({ tenant, requestId: id }: StoredRequest) => ({ tenant, id });

/** Begins background responses: their records, and the work that runs them. */
@Injectable()
export class BackgroundResponses {
  constructor(
    private readonly works: StoredWork,
    private readonly runs: WorkRuns,
    private readonly records: ResponseRecords,
  ) {}

  /**
   * Resolves when it is queued and any gateway can run it. @throws DomainError when
   * it was rejected
   */
  async start({
    response,
    request,
    conversation: { all: conversation, input },
    caller: { tenant, terms },
  }: ResponseTurn): Promise<void> {
    const { id } = response;
    const writer = new ResponseWriter(response);
    const events = writer.queued().map(event => writeJson(event));
    const work: BackgroundWork = {
      request: { ...request, stream: true },
      conversation,
      caller: { terms },
    };
    const stored = { response: writer.response, input, request: writeJson(work) };
    const opened = await this.works.open({
      tenant,
      requestId: id,
      name: `response:${id}`,
      mode: 'async',
      path: BACKGROUND_PATH,
      status: 'running',
      fingerprint: '',
      headers: {},
    });
    const attempt = opened.attempt!;
    try {
      // After its work: what is open is always run, or ended with its work.
      await this.records.create(tenant, stored, events);
      const early = await this.runs.begin(attempt);
      if (early)
        throw early.error ?? new DomainError('internal_error', 'The response could not be queued.');
    } catch (error) {
      attempt.release();
      await this.records.remove({ tenant, id });
      await this.works.drop(attempt.work);
      throw error;
    }
  }
}

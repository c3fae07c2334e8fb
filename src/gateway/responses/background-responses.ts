import { Injectable, type OnModuleInit } from '@nestjs/common';
import { STORED_BOUNDS, parseBoundedJson } from '@switchyard/engine-api/bounded-json.js';
import { writeJson } from '@switchyard/engine-api/exact-numbers.js';
import { type ResponseItem } from '../../contracts/openai/response-items.js';
import { type ResponseRequest } from '../../contracts/openai/responses.js';
import { DomainError } from '../../core/errors/domain-error.js';
import { RequestPriority } from '../../core/request/request-priority.js';
import { type StoredRequest } from '../../core/request/stored-request.js';
import { Settings } from '../../platform/config/settings.js';
import { StoredRequestStore } from '../../platform/database/stored-request-store.js';
import { counterMetric } from '../../platform/metrics/metric-provider.js';
import { newStoredBlob } from '../../platform/storage/blob-keys.js';
import { type InferenceCaller } from '../inference/inference.service.js';
import { ModelCatalog } from '../models/model-catalog.js';
import {
  AsyncRequests,
  jsonAnswer,
  type StoredAttemptOptions,
} from '../requests/async-requests.js';
import { type InnerAnswer } from '../requests/inner-requests.js';
import { StoredLeases } from '../requests/stored-leases.js';
import { TextGenerationService } from '../text/text-generation.service.js';
import { BackgroundRun } from './background-run.js';
import { type ResponseTurn } from './conversations.js';
import { generationOf } from './response-generation.js';
import { ResponseRecords } from './response-records.js';
import { type ResponseRunState, ResponseRuns } from './response-runs.js';
import { ResponseWriter } from './response-writer.js';

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
 * Runs background responses of this gateway and those that it takes over, from what is
 * durable of them.
 */
@Injectable()
export class BackgroundRunner implements OnModuleInit {
  readonly #begun = counterMetric('switchyard_background_response_runs_total');

  constructor(
    private readonly runs: ResponseRuns,
    private readonly asyncs: AsyncRequests,
    private readonly catalog: ModelCatalog,
    private readonly generations: TextGenerationService,
    private readonly settings: Settings,
  ) {}

  onModuleInit(): void {
    this.asyncs.runWith(BACKGROUND_PATH, this);
  }

  stop({ tenant, requestId: id }: StoredRequest): Promise<boolean> {
    return this.runs.stop({ tenant, id });
  }

  async run(
    { tenant, requestId: id }: StoredRequest,
    attempt: StoredAttemptOptions,
  ): Promise<InnerAnswer> {
    const run = await this.runs.begin({ tenant, id });
    if (run?.record.request === undefined) {
      // An attempt before this one ended it, or its client did.
      const status = await this.runs.statusOf({ tenant, id });
      const code = status === 'cancelled' ? GONE_STATUS : 200;
      return jsonAnswer(code, stateOf(id, status));
    }
    this.#begun.inc({ kind: run.record.epoch > 1 ? 'resumed' : 'first' });
    await this.#runOf(run, attempt).run();
    // What was said is stored once, so that it can be deleted.
    return jsonAnswer(200, stateOf(id, run.writer.response.status));
  }

  #runOf({ record, ...state }: ResponseRunState, attempt: StoredAttemptOptions): BackgroundRun {
    const { tenant, id, createdAtMs, request: json } = record;
    const { request, conversation, caller } = parseBoundedJson(
      json!,
      STORED_BOUNDS,
    ) as BackgroundWork;
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

/**
 * Background responses are stored requests (`Prefer: respond-async`) with a runner of
 * their own: the same lease, the same takeover by another gateway, the same bound on the
 * gateways that may die over one.  */
@Injectable()
export class BackgroundResponses {
  constructor(
    private readonly requests: StoredRequestStore,
    private readonly records: ResponseRecords,
    private readonly asyncs: AsyncRequests,
    private readonly leases: StoredLeases,
    private readonly settings: Settings,
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
    await this.records.create(tenant, stored, events);
    try {
      const early = await this.#queue(tenant, id);
      if (early)
        throw early.error ?? new DomainError('internal_error', 'The response could not be queued.');
    } catch (error) {
      await this.records.remove({ tenant, id });
      throw error;
    }
  }

  async #queue(tenant: string, id: string) {
    const nowMs = Date.now();
    const stored = {
      tenant,
      requestId: id,
      name: `response:${id}`,
      mode: 'async',
      path: BACKGROUND_PATH,
      status: 'running',
      fingerprint: '',
      headers: {},
      blob: newStoredBlob(),
      createdAtMs: nowMs,
      expiresAtMs: nowMs + this.settings.requests.keepMs,
    } as const;
    const { request } = await this.requests.open(stored, this.leases.lease);
    return this.asyncs.begin(request, () => undefined);
  }
}

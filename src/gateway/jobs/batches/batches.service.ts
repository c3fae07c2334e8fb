import { isDeepStrictEqual } from 'node:util';
import { Inject, Injectable } from '@nestjs/common';
import { SpanStatusCode, type Tracer } from '@opentelemetry/api';
import { invalidField } from '@switchyard/engine-api/field-problems.js';
import { type BatchListQueryDto } from '../../../contracts/openai/batch.dto.js';
import { type KeyTerms } from '../../../core/access/key-terms.js';
import { DomainError } from '../../../core/errors/domain-error.js';
import { type BatchJob } from '../../../core/jobs/batch-job.js';
import { isTerminal } from '../../../core/jobs/batch-status.js';
import { windowSeconds } from '../../../core/jobs/completion-window.js';
import { type Page } from '../../../core/jobs/job.ports.js';
import { timeOrderedId } from '../../../platform/clock/time-ordered-id.js';
import { Settings } from '../../../platform/config/settings.js';
import { JobStore } from '../../../platform/database/job-store.js';
import { HostExceptions } from '../../../platform/http/host-exceptions.js';
import { fetchTarget } from '../../../platform/http/safe-fetch.js';
import { contextAfter, traceparentOf, TRACER } from '../../../platform/tracing/tracing.module.js';
import { FilesService } from '../files/files.service.js';
import { EmbeddedProcessor } from '../processor/embedded-processor.js';

const refused = (why: string): DomainError =>
  new DomainError('webhook_refused', `\`webhook.url\` is rejected: ${why}.`, {
    param: 'webhook.url',
  });

/** What the caller decides of a job. */
type BatchParams = Pick<
  BatchJob,
  | 'endpoint'
  | 'inputFileId'
  | 'completionWindow'
  | 'metadata'
  | 'outputExpiresAfterS'
  | 'webhook'
  | 'retryOf'
  | 'traceparent'
  | 'terms'
>;

/** A new job, not yet claimed; its deadline runs from now on. */
export const newJob = (tenant: string, order: BatchParams, nowMs: number): BatchJob => ({
  ...order,
  id: timeOrderedId('batch_', nowMs),
  tenant,
  status: 'validating',
  createdAtMs: nowMs,
  expiresAtMs: nowMs + (windowSeconds(order.completionWindow) ?? 0) * 1000,
  reachedAtMs: {},
  counts: { total: 0, completed: 0, failed: 0 },
  problems: [],
});

/** Do both ask for the same? What the server decided by itself does not count. */
export const isSameBatch = (a: BatchParams, b: BatchParams): boolean =>
  isDeepStrictEqual(askedIn(a), askedIn(b));

const askedIn = (order: BatchParams) => [
  order.endpoint,
  // A retry makes a file of its own.
  order.retryOf ?? order.inputFileId,
  order.completionWindow,
  { ...order.metadata },
  order.outputExpiresAfterS,
  order.webhook?.url,
];

/** What a request to create a batch says besides its body. */
interface CreateContext {
  readonly traceparent: string | undefined;
  readonly idempotencyKey: string | undefined;
  /** Of the caller's key. */
  readonly terms: KeyTerms | undefined;
}

/**
 * Batches of a tenant. They are rows in the job table; any processor can
 * claim them (D-13).
 */
@Injectable()
export class BatchesService {
  readonly #webhookHosts: HostExceptions;

  constructor(
    private readonly jobs: JobStore,
    private readonly files: FilesService,
    private readonly processor: EmbeddedProcessor,
    private readonly settings: Settings,
    @Inject(TRACER) private readonly tracer: Tracer,
  ) {
    this.#webhookHosts = new HostExceptions(settings.batch.webhookAllowHosts);
  }

  /**
   * With a known idempotency key, returns the existing batch. @throws DomainError if
   * that one differs
   */
  async create(
    tenant: string,
    params: BatchParams,
    { traceparent: caller, terms, idempotencyKey }: CreateContext,
  ): Promise<BatchJob> {
    // Child of the caller's span, parent of the processor's `process-batch`.
    const span = this.tracer.startSpan('create-batch', {}, contextAfter(caller));
    const traceparent = traceparentOf(span.spanContext());
    try {
      const order = { ...params, terms, traceparent };
      const job = await this.#create(tenant, order, idempotencyKey);
      span.setAttributes({
        'batch.id': job.id,
        'tenant.id': job.tenant,
        'file.id': job.inputFileId,
      });
      return job;
    } catch (error) {
      span.setStatus({ code: SpanStatusCode.ERROR, message: (error as Error).message });
      throw error;
    } finally {
      span.end();
    }
  }

  async #create(
    tenant: string,
    params: BatchParams,
    idempotencyKey: string | undefined,
  ): Promise<BatchJob> {
    await this.#checkInput(tenant, params.inputFileId);
    if (params.webhook) await this.#checkWebhook(params.webhook.url);
    const { job, created } = await this.jobs.create(
      newJob(tenant, params, Date.now()),
      idempotencyKey,
    );
    if (!created && !isSameBatch(job, params)) throw reusedKey(job.id);
    if (created) this.processor.wake();
    return job;
  }

  async find(tenant: string, id: string): Promise<BatchJob> {
    return (await this.jobs.find(tenant, id)) ?? unknown(id);
  }

  list(tenant: string, { limit, after }: BatchListQueryDto): Promise<Page<BatchJob> | undefined> {
    return this.jobs.list(tenant, { limit, after });
  }

  /** Idempotent. */
  async cancel(tenant: string, id: string): Promise<BatchJob> {
    const { job, accepted } =
      (await this.jobs.requestCancel(tenant, id, Date.now())) ?? unknown(id);
    if (!accepted) {
      throw new DomainError(
        'batch_not_cancellable',
        `\`${id}\` is ${job.status} and cannot be cancelled.`,
        {
          param: 'id',
        },
      );
    }
    this.processor.wake();
    return job;
  }

  async remove(tenant: string, id: string): Promise<void> {
    const outcome = await this.jobs.remove(tenant, id);
    if (outcome === 'unknown') unknown(id);
    if (outcome === 'running') throw unfinished(await this.find(tenant, id));
  }

  async retryFailed(tenant: string, id: string, context: CreateContext): Promise<BatchJob> {
    const job = await this.find(tenant, id);
    if (!isTerminal(job.status)) throw unfinished(job);
    const { endpoint, completionWindow, metadata, outputExpiresAfterS, webhook } = job;
    const input = await this.files.ofFailedLines(job);
    const params = {
      endpoint,
      completionWindow,
      metadata,
      inputFileId: input.id,
      retryOf: id,
      outputExpiresAfterS,
      webhook,
    };
    let made: BatchJob | undefined;
    try {
      made = await this.create(tenant, params, context);
      return made;
    } finally {
      if (made?.inputFileId !== input.id) await this.files.remove(tenant, input.id);
    }
  }

  /**
   * A webhook is rejected at once if it cannot be signed, or if its address is not public.
   * The sender checks again, since DNS can change. @throws DomainError `webhook_refused`
   */
  async #checkWebhook(url: string): Promise<void> {
    if (this.settings.batch.webhookSecretFile === '')
      throw refused('this server has no secret to sign webhooks (`batch.webhook_secret_file`)');
    const parsed = URL.parse(url);
    if (!parsed) throw refused('it is not a URL');
    try {
      await fetchTarget(parsed, this.#webhookHosts);
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      throw refused(error.message.replace(/^[^:]*: (.*)\.$/, '$1'));
    }
  }

  async #checkInput(tenant: string, id: string): Promise<void> {
    const { purpose } = await this.files.find(tenant, id, 'input_file_id');
    if (purpose === 'batch') return;
    const message = `\`input_file_id\` must be a file with the purpose batch; the purpose of \`${id}\` is ${purpose}.`;
    throw invalidField('input_file_id', message);
  }
}

function unknown(id: string): never {
  throw new DomainError('batch_not_found', `There is no batch \`${id}\`.`, {
    param: 'id',
  });
}

const unfinished = ({ id, status }: BatchJob): DomainError =>
  new DomainError('batch_not_finished', `\`${id}\` is ${status}; cancel it or wait for its end.`, {
    param: 'id',
  });

const reusedKey = (id: string): DomainError =>
  new DomainError('idempotency_key_reused', `This key was used for \`${id}\`, a different batch.`, {
    param: 'Idempotency-Key',
  });

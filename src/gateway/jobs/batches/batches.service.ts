import { Inject, Injectable } from '@nestjs/common';
import { type BatchListQueryDto } from '../../../contracts/openai/batch.dto.js';
import { type BatchJob } from '../../../core/jobs/batch-job.js';
import { isTerminal } from '../../../core/jobs/batch-status.js';
import { type JobStore, type Page } from '../../../core/jobs/job.ports.js';
import { DomainError } from '../../../core/shared/domain-error.js';
import { JOB_STORE } from '../../../platform/database/database.tokens.js';
import { FilesService } from '../files/files.service.js';
import { EmbeddedProcessor } from '../processor/embedded-processor.js';
import { type BatchParams, newJob, sameOrder } from './batch-params.js';
import { BatchTraces } from './batch-traces.js';
import { FailedLines } from './failed-lines.js';
import { WebhookAddress } from './webhook-address.js';

/** What a request says beside its body. */
export interface OrderContext {
  readonly traceparent: string | undefined;
  readonly idempotencyKey: string | undefined;
}

/** Batches of a tenant. They are rows: whichever processor claims one runs it (D-13). */
@Injectable()
export class BatchesService {
  constructor(
    @Inject(JOB_STORE) private readonly jobs: JobStore,
    private readonly files: FilesService,
    private readonly webhooks: WebhookAddress,
    private readonly failedLines: FailedLines,
    private readonly processor: EmbeddedProcessor,
    private readonly traces: BatchTraces,
  ) {}

  /** With an idempotency key that came before: the batch made then. @throws DomainError when that was another order */
  create(tenant: string, order: BatchParams, { traceparent, idempotencyKey }: OrderContext): Promise<BatchJob> {
    return this.traces.created(traceparent, own =>
      this.#create(tenant, own === undefined ? order : { ...order, traceparent: own }, idempotencyKey),
    );
  }

  async #create(tenant: string, order: BatchParams, idempotencyKey: string | undefined): Promise<BatchJob> {
    await this.#checkInput(tenant, order.inputFileId);
    if (order.webhook) await this.webhooks.check(order.webhook.url);
    const { job, created } = await this.jobs.create(newJob(tenant, order, Date.now()), idempotencyKey);
    if (!created && !sameOrder(job, order)) throw reusedKey(job.id);
    if (created) this.processor.wake();
    return job;
  }

  async find(tenant: string, id: string): Promise<BatchJob> {
    return (await this.jobs.find(tenant, id)) ?? unknown(id);
  }

  list(tenant: string, { limit, after }: BatchListQueryDto): Promise<Page<BatchJob> | undefined> {
    return this.jobs.list(tenant, { limit, ...(after === undefined ? {} : { after }) });
  }

  /** A second cancel finds it cancelling, which is what was asked for. */
  async cancel(tenant: string, id: string): Promise<BatchJob> {
    const { job, accepted } = (await this.jobs.requestCancel(tenant, id, Date.now())) ?? unknown(id);
    if (!accepted) {
      throw new DomainError('batch_not_cancellable', `\`${id}\` is ${job.status} and cannot be cancelled.`, {
        param: 'id',
      });
    }
    this.processor.wake();
    return job;
  }

  async remove(tenant: string, id: string): Promise<void> {
    const outcome = await this.jobs.remove(tenant, id);
    if (outcome === 'unknown') unknown(id);
    if (outcome === 'running') throw unfinished(await this.find(tenant, id));
  }

  async retryFailed(tenant: string, id: string, traceparent: string | undefined): Promise<BatchJob> {
    const job = await this.find(tenant, id);
    if (!isTerminal(job.status)) throw unfinished(job);
    const { endpoint, completionWindow, metadata, outputExpiresAfterS, webhook } = job;
    const input = await this.failedLines.asFile(job);
    const order = {
      ...{ endpoint, completionWindow, metadata, inputFileId: input.id, retryOf: id },
      ...(outputExpiresAfterS === undefined ? {} : { outputExpiresAfterS }),
      ...(webhook ? { webhook } : {}),
    };
    return this.create(tenant, order, { traceparent, idempotencyKey: undefined });
  }

  async #checkInput(tenant: string, id: string): Promise<void> {
    const { purpose } = await this.files.find(tenant, id, 'input_file_id');
    if (purpose === 'batch') return;
    const message = `\`input_file_id\` must be a file with the purpose batch; the purpose of \`${id}\` is ${purpose}.`;
    throw new DomainError('invalid_value', message, { param: 'input_file_id' });
  }
}

function unknown(id: string): never {
  throw new DomainError('batch_not_found', `There is no batch \`${id}\`.`, { param: 'id' });
}

const unfinished = ({ id, status }: BatchJob): DomainError =>
  new DomainError('batch_not_finished', `\`${id}\` is ${status}; cancel or await it first.`, { param: 'id' });

const reusedKey = (id: string): DomainError =>
  new DomainError('idempotency_key_reused', `This key made \`${id}\`, which is another batch than this one.`, {
    param: 'Idempotency-Key',
  });

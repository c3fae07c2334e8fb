import { type CallGroup } from '@switchyard/worker-protocol/call.codec.js';
import { type GenerateCallFields } from '@switchyard/worker-protocol/generation.codec.js';
import { type WorkerHealthReport } from '@switchyard/worker-protocol/health.codec.js';
import { DomainError } from '../../src/core/errors/domain-error.js';
import { type ModelSpec } from '../../src/platform/config/model-spec.js';
import { type InProcessWorker } from '../../src/worker-client/in-process-worker.js';
import { type GenerateTask, type TaskRequest } from '../../src/worker-client/worker-task.js';
import { request } from './pool-harness.js';
import { syntheticModel } from './synthetic-model.js';

/** A model whose workers need no process, where their launch has `inner`. */
export const innerModel = (fields: Partial<ModelSpec> = {}): ModelSpec =>
  syntheticModel({}, { id: 'm', kind: 'llm', ...fields });

export const READY: WorkerHealthReport = {
  ...{ state: 'ready', model: 'm', kind: 'llm', capabilities: [], languages: [] },
  ...{ engine: 'synthetic', device: '', revision: '', inFlight: 0, streams: 0 },
  ...{ maxBatch: 1, maxConcurrent: 2, maxMessageBytes: 2 ** 31 - 1 },
};

/** A worker in this process that reports and answers what its test says. */
export class InnerWorker implements InProcessWorker {
  health: WorkerHealthReport;
  /** As it loads. */
  loaded: Promise<readonly string[]> = Promise.resolve([]);
  /** Ends of its calls, in the order in which they came. */
  readonly calls: PromiseWithResolvers<void>[] = [];
  readonly cancelled: string[] = [];
  isClosed = false;

  constructor(health: Partial<WorkerHealthReport> = {}) {
    this.health = { ...READY, ...health };
  }

  load(): Promise<readonly string[]> {
    return this.loaded;
  }

  report(): WorkerHealthReport {
    return this.health;
  }

  async generate(
    _call: GenerateCallFields,
    sink: Parameters<InProcessWorker['generate']>[1],
  ): Promise<void> {
    const end = Promise.withResolvers<void>();
    this.calls.push(end);
    await end.promise;
    const execution = { prepMs: 0, readyWaitMs: 0, deviceMs: 1, batchSize: 1, batchId: '' };
    await sink({ $case: 'chunk', value: Buffer.from('{}') });
    await sink({ $case: 'done', value: { execution } } as Parameters<typeof sink>[0]);
  }

  cancel(id: string): boolean {
    this.cancelled.push(id);
    this.abortAll(new DomainError('request_cancelled', 'cancelled'));
    return true;
  }

  progress(): Promise<undefined> {
    return Promise.resolve(undefined);
  }

  abortAll(error: DomainError): void {
    for (const call of this.calls) call.reject(error);
  }

  close(): Promise<void> {
    this.isClosed = true;
    return Promise.resolve();
  }
}

const TASK: GenerateTask = {
  ...{ kind: 'generate', form: 'chat', body: Buffer.from('{}'), maxTokens: 1, n: 1 },
};

/** A generation, and the group that it is sent in. */
export const generation = (id?: string): { request: TaskRequest; group: CallGroup } => ({
  request: request(TASK, id),
  group: { id: 'g', size: 1 },
});

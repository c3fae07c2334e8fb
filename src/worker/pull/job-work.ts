import { type EngineCapability } from '@switchyard/engine-api/engine.js';
import { type QueueJob } from '@switchyard/shared-queue/job.codec.js';
import { type JobValue } from '@switchyard/shared-queue/result.codec.js';
import { type CallEnvelope, type CallExecution } from '@switchyard/worker-protocol/call.codec.js';
import { DomainError } from '../../core/errors/domain-error.js';
import { type WorkerEngine } from '../engines/worker-engine.js';

/**
 * Runs a job through the same stages as a gRPC call: one implementation per
 * kind of engine.
 */
export abstract class JobWork {
  protected abstract readonly engine: Pick<WorkerEngine, 'info' | 'kind'>;

  /**
   * @param envelope id, priority and group as a call would carry them
   * @throws DomainError the job's own failure, or the abort's error once the
   *   work has stopped
   */
  abstract perform(
    job: QueueJob,
    envelope: CallEnvelope,
    signal: AbortSignal,
  ): Promise<{ readonly value: JobValue; readonly execution: CallExecution }>;

  /**
   * Gateways check this before they accept; jobs of other clients are checked here. A field
   * is honoured or rejected.
   * @throws DomainError `unsupported_task` or `unsupported_parameter`
   */
  protected assertAble(param: string, capability: EngineCapability, wanted: boolean): void {
    if (!wanted || this.engine.info.capabilities.includes(capability)) return;
    throw param === 'kind'
      ? new DomainError('unsupported_task', `The model cannot ${capability}.`, { param })
      : new DomainError('unsupported_parameter', `The model cannot honour \`${param}\`.`, {
          param,
        });
  }

  protected wrongKind({ kind, model }: QueueJob): DomainError {
    return new DomainError(
      'model_kind_mismatch',
      `\`${model}\` is of kind ${this.engine.kind}; the job asks for ${kind}.`,
      { param: 'kind' },
    );
  }
}

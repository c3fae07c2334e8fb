import {
  type CallEnvelope,
  type CallExecution,
} from '../../contracts/grpc/call.codec.js';
import { type JobValue } from '../../contracts/queue-jobs/job-result.js';
import { type QueueJob } from '../../contracts/queue-jobs/queue-job.js';
import { DomainError } from '../../core/errors/domain-error.js';
import { type EngineCapability, type EngineInfo } from '@switchyard/engine-api/engine.js';

/**
 * Gateways check this before they accept; jobs of other clients are checked here. A field
 * is honoured or rejected.
 * @throws DomainError `unsupported_task` or `unsupported_parameter`
 */
export function assertAble(
  { capabilities }: EngineInfo,
  param: string,
  capability: EngineCapability,
  wanted: boolean,
): void {
  if (!wanted || capabilities.includes(capability)) return;
  if (param === 'kind')
    throw new DomainError('unsupported_task', `The model cannot ${capability}.`, {
      param,
    });
  throw new DomainError(
    'unsupported_parameter',
    `The model cannot honour \`${param}\`.`,
    { param },
  );
}

export const wrongKind = ({ kind, model }: QueueJob, does: string): DomainError =>
  new DomainError(
    'model_kind_mismatch',
    `\`${model}\` is of kind ${does}; the job asks for ${kind}.`,
    {
      param: 'kind',
    },
  );

export interface JobAnswer {
  readonly value: JobValue;
  readonly execution: CallExecution;
}

/**
 * Runs a job through the same stages as a gRPC call: one implementation per
 * kind of engine.
 */
export abstract class JobWork {
  /**
   * @param envelope id, priority and group as a call would carry them
   * @throws DomainError the job's own failure, or the abort's error once the
   *   work has stopped
   */
  abstract perform(
    job: QueueJob,
    envelope: CallEnvelope,
    signal: AbortSignal,
  ): Promise<JobAnswer>;
}

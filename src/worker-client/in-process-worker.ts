import {
  type GenerateCallFields,
  type GenerationMessage,
} from '@switchyard/worker-protocol/generation.codec.js';
import { type WorkerHealthReport } from '@switchyard/worker-protocol/health.codec.js';
import { type DomainError } from '../core/errors/domain-error.js';
import { type DeviceProgress } from '../core/request/device-progress.js';
import { type WorkerSpec } from '../platform/config/worker-spec.js';

/**
 * A worker without a process of its own (D-37): it computes nothing, it passes
 * generations on to another server. The same program as in a worker process,
 * without gRPC between.
 */
export interface InProcessWorker {
  /**
   * @returns what an operator should know. @throws Error that says why it cannot start
   */
  load(): Promise<readonly string[]>;
  report(): WorkerHealthReport;
  /**
   * Resolves after `done`.
   * @param sink takes the messages in order. Resolves when there is room for more;
   *   never rejects
   * @throws DomainError
   */
  generate(
    call: GenerateCallFields,
    sink: (message: GenerationMessage) => Promise<void>,
  ): Promise<void>;
  /** @returns false when no such call runs */
  cancel(id: string, reason: string, attempt: string): boolean;
  /** Undefined: no such call runs. */
  progress(id: string, attempt: string): Promise<DeviceProgress | undefined>;
  abortAll(error: DomainError): void;
  close(): Promise<void>;
}

/** @returns how such a worker is made; undefined for one that needs a process */
export type OpenInProcessWorker = (spec: WorkerSpec) => (() => InProcessWorker) | undefined;

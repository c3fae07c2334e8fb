import { resolve } from 'node:path';
import { type ModelSpec } from '../../../src/platform/config/model-spec.js';
import {
  maxMessageBytes,
  WORKER_SPEC_VARIABLE,
  type WorkerSpec,
} from '../../../src/platform/config/worker-spec.js';
import { NodeProcess } from '../../support/node-process.js';

const UPLOAD_LIMIT_BYTES = 26_214_400;

export interface BenchWorkerLimits {
  readonly prepParallel?: number;
  readonly uploadLimitBytes?: number;
}

/**
 * The real worker, started as the gateway's supervisor starts it, at an address that the
 * bench can call too.
 */
export class BenchWorker implements AsyncDisposable {
  private constructor(
    readonly process: NodeProcess,
    readonly address: string,
  ) {}

  static async start(
    model: ModelSpec,
    folder: string,
    limits: BenchWorkerLimits = {},
  ): Promise<BenchWorker> {
    const worker = new NodeProcess({
      name: `worker-${model.id}`,
      script: resolve('dist/main.worker.js'),
      env: { [WORKER_SPEC_VARIABLE]: JSON.stringify(workerSpec(model, limits)) },
      folder,
    });
    const listening = worker.message<{ type: 'listening'; port: number }>('listening');
    const ready = worker.message<{ type: 'ready' }>('ready');
    const [{ port }] = await Promise.all([listening, ready]);
    return new BenchWorker(worker, `127.0.0.1:${port}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.process[Symbol.asyncDispose]();
  }
}

function workerSpec(
  model: ModelSpec,
  { prepParallel = 4, uploadLimitBytes = UPLOAD_LIMIT_BYTES }: BenchWorkerLimits,
): WorkerSpec {
  return {
    workerId: `${model.id}-bench`,
    model,
    host: '127.0.0.1',
    port: 0,
    maxMessageBytes: maxMessageBytes(uploadLimitBytes),
    uploadLimitBytes,
    prepParallel,
    keepaliveTimeMs: 10_000,
    keepaliveTimeoutMs: 5_000,
    shutdownGraceMs: 2_000,
    logLevel: 'warn',
  };
}

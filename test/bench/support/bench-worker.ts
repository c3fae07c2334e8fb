import { resolve } from 'node:path';
import { type ModelSpec } from '../../../src/platform/config/model-spec.js';
import { settingsFrom } from '../../../src/platform/config/settings.js';
import {
  WORKER_SPEC_VARIABLE,
  type WorkerSpec,
  workerSpec,
} from '../../../src/platform/config/worker-spec.js';
import { NodeProcess } from '../../support/node-process.js';

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
      env: { [WORKER_SPEC_VARIABLE]: JSON.stringify(specOf(model, limits)) },
      folder,
    });
    const [port] = await Promise.all([worker.port(), worker.message('ready')]);
    return new BenchWorker(worker, `127.0.0.1:${port}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.process[Symbol.asyncDispose]();
  }
}

function specOf(model: ModelSpec, limits: BenchWorkerLimits): WorkerSpec {
  const { prepParallel = 4, uploadLimitBytes = 26_214_400 } = limits;
  const settings = settingsFrom({
    'server.upload_limit_bytes': uploadLimitBytes,
    'workers.prep_parallel': prepParallel,
    'server.shutdown_grace_ms': 2000,
    'logging.level': 'warn',
  });
  return workerSpec({ workerId: `${model.id}-bench`, model, host: '127.0.0.1', port: 0 }, settings);
}

import { NestFactory } from '@nestjs/core';
import { type MicroserviceOptions } from '@nestjs/microservices';
import { DomainError } from '../../src/core/errors/domain-error.js';
import { modelOn, type ModelSpec, replicaSpecs } from '../../src/platform/config/model-spec.js';
import { type Settings } from '../../src/platform/config/settings.js';
import { fetchRules, type WorkerSpec, workerSpec } from '../../src/platform/config/worker-spec.js';
import { createEngine } from '../../src/worker/engine-factory.js';
import { WorkerGrpcServer } from '../../src/worker/grpc/worker-grpc-server.js';
import { inProcessWorker } from '../../src/worker/in-process-worker.js';
import { InFlightCalls } from '../../src/worker/lifecycle/in-flight-calls.js';
import { workerLog } from '../../src/worker/lifecycle/worker-log.js';
import { WorkerState } from '../../src/worker/lifecycle/worker-state.js';
import { WorkerModule } from '../../src/worker/worker.module.js';
import { leftover } from './leftovers.js';

/**
 * The whole worker, its gRPC server included, in this process: a start costs
 * milliseconds. A spec that kills, stops or restarts its worker starts a process.
 */
export class HostedWorker implements AsyncDisposable {
  private constructor(
    readonly address: string,
    /** Its JSON lines so far. */
    readonly log: string[],
    private readonly end: () => Promise<void>,
  ) {}

  /** Resolves when it takes calls. */
  static async start(spec: WorkerSpec): Promise<HostedWorker> {
    const log: string[] = [];
    const engine = createEngine(spec.model);
    const server = new WorkerGrpcServer(spec);
    const lines = workerLog(spec, { write: line => void log.push(line) });
    const app = await NestFactory.createMicroservice<MicroserviceOptions>(
      await WorkerModule.forEngine({ spec, engine, log: lines }),
      { strategy: server, logger: false },
    );
    let ended: Promise<void> | undefined;
    const end = async () => {
      app.get(InFlightCalls).abortAll(new DomainError('shutting_down', 'The worker ends.'));
      await app.close();
      await engine.close();
    };
    const endOnce = () => (ended ??= end());
    leftover(endOnce);
    await app.listen();
    await engine.load();
    app.get(WorkerState).ready();
    return new HostedWorker(`${spec.host}:${server.port}`, log, endOnce);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.end();
  }
}

/**
 * The local workers of a gateway's models, hosted, except those that the gateway itself
 * hosts, and bridges.
 */
export class HostedWorkers implements AsyncDisposable {
  private constructor(
    /** The same, with the addresses of their workers. */
    readonly models: readonly ModelSpec[],
    private readonly workers: readonly HostedWorker[],
  ) {}

  static async start(models: readonly ModelSpec[], settings: Settings): Promise<HostedWorkers> {
    const workers: HostedWorker[] = [];
    const served: ModelSpec[] = [];
    for (const model of models) {
      const specs = replicaSpecs(model).map((replica, at) => ({
        ...workerSpec(
          { workerId: `${model.id}-${at}`, model: modelOn(model, replica), ...LOOPBACK },
          settings,
        ),
        fetch: fetchRules(settings),
      }));
      const [first] = specs;
      if (!first || model.engine === 'external' || inProcessWorker(first)) {
        served.push(model);
        continue;
      }
      const hosted = await Promise.all(specs.map(spec => HostedWorker.start(spec)));
      workers.push(...hosted);
      served.push({ ...model, replicas: 0, addresses: hosted.map(({ address }) => address) });
    }
    return new HostedWorkers(served, workers);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.workers.map(worker => worker[Symbol.asyncDispose]()));
  }
}

const LOOPBACK = { host: '127.0.0.1', port: 0 };

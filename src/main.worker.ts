import 'reflect-metadata';
import { type INestMicroservice } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { type MicroserviceOptions } from '@nestjs/microservices';
import { errorMessage } from '@switchyard/engine-api/error-message.js';
import { onParentLost } from '@switchyard/engine-api/process/parent-loss.js';
import { BRIDGE_PROVIDERS } from './bridge/bridged-services.js';
import { ExternalWorker, type Waiting } from './bridge/external-worker.js';
import { UsageError, WRONG_USAGE } from './platform/config/program-arguments.js';
import { redacted } from './platform/config/redaction.js';
import { workerSpecOf, WORKER_USAGE } from './platform/config/worker-arguments.js';
import { redactCrashes } from './platform/process/crash-output.js';
import { finishStart } from './platform/process/v8-flags.js';
import { createEngine, externalDiarizer } from './worker/engine-factory.js';
import { WorkerGrpcServer } from './worker/grpc/worker-grpc-server.js';
import { reportToSupervisor } from './worker/lifecycle/supervisor-link.js';
import { WorkerDrain } from './worker/lifecycle/worker-drain.js';
import { nestLog, workerLog } from './worker/lifecycle/worker-log.js';
import { WorkerState } from './worker/lifecycle/worker-state.js';
import { WorkerModule } from './worker/worker.module.js';

/** Reported while the engine loads, and this process can say so. */
const LOADING: Waiting = { message: 'it loads its model', isProblem: false, isStarting: true };
const LOADING_MS = 5000;

/**
 * Listening comes before loading: a supervisor can connect and watch the health
 * turn to SERVING.
 */
async function bootstrap(): Promise<void> {
  const spec = workerSpecOf(process.argv.slice(2));
  if (!spec) return void process.stdout.write(`${WORKER_USAGE}\n`);
  process.title = `switchyard worker ${spec.model.id}`;
  const log = workerLog(spec);
  const onWaiting = (waiting: Waiting) => void reportToSupervisor({ type: 'waiting', ...waiting });
  const bridged =
    spec.bridged && new ExternalWorker({ spec, diarizer: externalDiarizer(spec.model), onWaiting });
  const engine = bridged ?? createEngine(spec.model);
  const replaced = bridged ? BRIDGE_PROVIDERS[spec.model.kind] : [];
  const server = new WorkerGrpcServer(spec);
  const app = await NestFactory.createMicroservice<MicroserviceOptions>(
    await WorkerModule.forEngine({ spec, engine, log, replaced }),
    { strategy: server, logger: nestLog(log) },
  );
  const stop = stopper(app, engine);
  onOrderToStop(stop.now);
  await app.listen();
  app.get(WorkerState).listening(server.port);
  await reportToSupervisor({ type: 'listening', port: server.port });
  log.info({ port: server.port }, `Listening on ${spec.host}:${server.port}`);
  // A bridge reports what the worker behind it does.
  const loading = bridged ? undefined : setInterval(() => onWaiting(LOADING), LOADING_MS);
  await engine.load();
  clearInterval(loading);
  app.get(WorkerState).ready();
  void bridged?.lost.then(async message => {
    if (stop.isStopping()) return;
    log.warn(`The worker is lost: ${message}`);
    await reportToSupervisor({ type: 'failed', message });
    await stop.now(undefined, 1);
  });
  finishStart();
  await reportToSupervisor({ type: 'ready' });
  log.info(engine.info, `Ready: ${spec.model.id} on ${engine.info.engine}`);
}

/** Lets what runs end, then ends this process. */
function stopper(app: INestMicroservice, engine: { close(): Promise<void> }) {
  let isStopping = false;
  const now = async (graceMs?: number, exitCode = 0): Promise<void> => {
    isStopping = true;
    await app.get(WorkerDrain).drain(graceMs);
    await app.close();
    await engine.close();
    process.exit(exitCode);
  };
  return { isStopping: () => isStopping, now };
}

function onOrderToStop(stop: (graceMs?: number) => Promise<void>): void {
  process.on('SIGTERM', () => void stop());
  // Ctrl-C reaches the whole process group of a terminal: a supervised worker waits for
  // its gateway's decision.
  process.on('SIGINT', () => void (process.connected || stop()));
  // No caller is left, so nothing is worth finishing.
  onParentLost(process, () => void stop(0));
}

redactCrashes();
/**
 * The message carries what to install or where to look; the exit code lets the
 * supervisor back off.
 */
bootstrap().catch(async (error: unknown) => {
  if (error instanceof UsageError) {
    process.stderr.write(`${error.text}\n`);
    process.exit(WRONG_USAGE);
  }
  const message = redacted(errorMessage(error));
  await reportToSupervisor({ type: 'failed', message });
  process.stderr.write(`worker failed to start: ${message}\n`);
  process.exit(1);
});

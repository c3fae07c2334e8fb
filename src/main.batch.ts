import { constants, getPriority, setPriority } from 'node:os';
import { NestFactory } from '@nestjs/core';
import { sendToParent, onParentLost } from '@switchyard/engine-api/process/parent-loss.js';
import 'reflect-metadata';
import { Logger } from 'nestjs-pino';
import { BatchModule } from './batch/batch.module.js';
import { BatchProcessor } from './batch/runner/batch-processor.js';
import { assertDataWritable } from './platform/config/cross-checks.js';
import { loadConfig } from './platform/config/load-config.js';
import {
  type GatewayMessage,
  type ProcessorMessage,
  takeProcessorLink,
} from './platform/config/processor-link.js';
import { shallRun, UsageError, WRONG_USAGE } from './platform/config/program-arguments.js';
import { startErrorText } from './platform/config/start-error.js';
import { ownMetricsText, serveMetrics } from './platform/metrics/metrics-server.js';
import { redactCrashes } from './platform/process/crash-output.js';
import { finishStart } from './platform/process/v8-flags.js';
import { startTracing } from './platform/tracing/tracing.module.js';

const ABOUT = `node dist/main.batch.js

Runs one more batch processor, on the database and blob store of the gateways: database.url and blobs.driver, or
data.dir for processes of one machine. Lines go to batch.gateway_url.`;

const tellGateway = (message: ProcessorMessage): Promise<void> => sendToParent(process, message);

async function bootstrap(): Promise<void> {
  process.title = 'switchyard batch';
  if (!shallRun(ABOUT)) return;
  const link = takeProcessorLink();
  if (link) giveWay();
  const { settings, models, sources } = loadConfig();
  assertDataWritable(sources);
  const tracing = await startTracing('switchyard-batch');
  const app = await NestFactory.createApplicationContext(
    BatchModule.forProcessor(settings, models, link, tracing.tracer),
    { bufferLogs: true, abortOnError: false },
  );
  app.useLogger(app.get(Logger));
  const processor = app.get(BatchProcessor);
  const { metricsPort, metricsHost } = settings.batch;
  const closeMetrics = metricsPort > 0 ? await serveMetrics(metricsPort, metricsHost) : undefined;

  const stop = async (hurry: boolean): Promise<void> => {
    await processor.stop(hurry);
    await closeMetrics?.();
    await tracing.close();
    await app.close();
    process.exit(0);
  };
  process.on('SIGTERM', () => void stop(false));
  // Ctrl-C reaches the whole process group of a terminal: a child waits for
  // its gateway's decision.
  process.on('SIGINT', () => void (link || stop(false)));
  listenToGateway(
    ({ type }) =>
      type === 'wake'
        ? processor.wake()
        : void ownMetricsText().then(text => tellGateway({ type, text })),
    () => void stop(true),
  );
  await processor.start(link !== undefined);
  finishStart();
  await tellGateway({ type: 'ready' });
}

/**
 * Hears the gateway that started this process, by its IPC channel. A processor started by
 * hand has none.
 * @param lost called when the gateway is gone
 */
function listenToGateway(listener: (message: GatewayMessage) => void, lost: () => void): void {
  onParentLost(process, lost);
  if (!process.connected) return;
  process.on('message', message => {
    const { type } = (message ?? {}) as { type?: unknown };
    if (type === 'wake' || type === 'metrics') listener({ type });
  });
}

/**
 * Beside a gateway, whatever waits for an answer goes first: where cores are short, this
 * process runs in what is left.
 */
function giveWay(): void {
  const { PRIORITY_BELOW_NORMAL: below } = constants.priority;
  if (getPriority() < below) setPriority(below);
}

redactCrashes();
bootstrap().catch(async (error: unknown) => {
  const message = error instanceof UsageError ? error.text : startErrorText(error);
  await tellGateway({ type: 'failed', message });
  process.stderr.write(`${message}\n`);
  process.exit(error instanceof UsageError ? WRONG_USAGE : 1);
});

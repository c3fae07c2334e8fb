import { setTimeout as pause } from 'node:timers/promises';
import { type INestApplication, Logger } from '@nestjs/common';
import 'reflect-metadata';
import { onParentLost } from '@switchyard/engine-api/process/parent-loss.js';
import { createGateway } from './gateway/bootstrap.js';
import { KeyIssuer, makeFirstKey } from './platform/auth/key-issuer.js';
import { assertDataWritable } from './platform/config/cross-checks.js';
import { FIRST_KEYS_ORIGIN } from './platform/config/first-keys-file.js';
import { loadConfig, readModels } from './platform/config/load-config.js';
import { NO_MODELS } from './platform/config/models-file.js';
import { shallRun, UsageError, WRONG_USAGE } from './platform/config/program-arguments.js';
import { environmentName, type Settings } from './platform/config/settings.js';
import { startErrorText } from './platform/config/start-error.js';
import { type ConfigProblem, problemText } from './platform/config/yaml-file.js';
import { listeningUrl, listenHost } from './platform/http/connections.js';
import { redactCrashes } from './platform/process/crash-output.js';
import { explainListenProblem } from './platform/process/listen-check.js';
import { finishStart } from './platform/process/v8-flags.js';
import { ENGINE_CHECKS } from './worker/engine-factory.js';
import { inProcessWorker } from './worker/in-process-worker.js';

const ABOUT = `node dist/main.gateway.js

Runs the gateway: the HTTP API, the local workers of config/models.yaml and, unless batch.embedded is false, one batch
processor. npm run up does the same after installing and building what is missing.`;

/** A start that failed waits no longer for its workers. */
const CLOSE_MS = 2000;

async function bootstrap(): Promise<void> {
  process.title = 'switchyard gateway';
  const { settings, models, warnings, sources } = loadConfig({
    askEngine: ENGINE_CHECKS.objections,
  });
  const { port } = settings.server;
  const host = listenHost(settings.server.host);
  assertDataWritable(sources);
  // Asked before any worker is started for nothing.
  const taken = await explainListenProblem(
    { host, port },
    other => `${environmentName('server.port')}=${other}`,
  );
  if (taken !== undefined) return fail(taken);
  if (sources.get('auth.keys_file')?.origin === FIRST_KEYS_ORIGIN)
    process.stderr.write(makeFirstKey(settings) ?? '');
  const app = await createGateway({
    settings,
    models,
    sources,
    inProcessWorkers: inProcessWorker,
    readModels: () => readModels(settings, ENGINE_CHECKS.objections),
  });
  for (const warning of warnings) sayOf(warning);
  app.enableShutdownHooks(['SIGTERM', 'SIGINT'], { useProcessExit: true });
  // Callers are still connected when `npm run up` was killed: they are worth finishing.
  onParentLost(process, () => process.kill(process.pid, 'SIGTERM'));
  try {
    if (sources.get('auth.required')?.origin === FIRST_KEYS_ORIGIN)
      await printFirstKey(app, settings);
    await app.listen(port, host);
  } catch (error) {
    process.stderr.write(`${startErrorText(error)}\n`);
    // Workers are running by now: they end in order, or with this process.
    await Promise.race([app.close().catch(() => undefined), pause(CLOSE_MS)]);
    process.exit(1);
  }
  finishStart();
  new Logger('gateway').log(`listening on ${listeningUrl(app.getHttpServer())}`);
}

function sayOf(warning: ConfigProblem): void {
  const level = warning.message === NO_MODELS ? 'log' : 'warn';
  new Logger('Configuration')[level](problemText(warning));
}

async function printFirstKey(app: INestApplication, settings: Settings): Promise<void> {
  // The schema is up to date once the application is initialized.
  await app.init();
  process.stderr.write((await app.get(KeyIssuer).createFirst(settings)) ?? '');
}

/** At once: the channel to a parent would keep this process. */
function fail(text: string, code = 1): never {
  process.stderr.write(`${text}\n`);
  process.exit(code);
}

redactCrashes();
try {
  if (shallRun(ABOUT)) await bootstrap();
} catch (error) {
  if (error instanceof UsageError) fail(error.text, WRONG_USAGE);
  fail(startErrorText(error));
}

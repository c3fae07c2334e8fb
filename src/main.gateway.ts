import 'reflect-metadata';
import { Logger } from '@nestjs/common';
import { createGateway } from './gateway/bootstrap.js';
import { ConfigError } from './platform/config/config-problem.js';
import { loadConfig } from './platform/config/load-config.js';
import { engineObjections } from './worker/engines/engine-objections.js';

try {
  const { settings, models } = loadConfig({ askEngine: engineObjections });
  const app = await createGateway({ settings, models });
  app.enableShutdownHooks(['SIGTERM', 'SIGINT'], { useProcessExit: true });
  await app.listen(settings.server.port, settings.server.host);
  new Logger('gateway').log(`listening on ${await app.getUrl()}`);
} catch (error) {
  process.stderr.write(`${error instanceof ConfigError ? error.message : String((error as Error).stack)}\n`);
  process.exitCode = 1;
}

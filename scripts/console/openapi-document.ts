import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { NestFactory } from '@nestjs/core';
import { type NestFastifyApplication } from '@nestjs/platform-fastify';
import {
  APPLICATION_OPTIONS,
  configureGateway,
  gatewayAdapter,
} from '../../src/gateway/bootstrap.js';
import { GatewayModule } from '../../src/gateway/gateway.module.js';
import { settingsFrom } from '../../src/platform/config/settings.js';

/** The OpenAPI document of a gateway with default settings. */
export async function openApiDocument(): Promise<object> {
  // New each time: a database there may be of another version.
  const dataDir = await mkdtemp(join(tmpdir(), 'switchyard-openapi-'));
  const settings = settingsFrom({
    'logging.level': 'silent',
    'data.dir': dataDir,
    'batch.embedded': false,
  });
  const app = await NestFactory.create<NestFastifyApplication>(
    GatewayModule.forRoot(settings, []),
    gatewayAdapter(settings),
    { ...APPLICATION_OPTIONS, logger: false },
  );
  await configureGateway(app, settings).init();
  try {
    const answer = await app
      .getHttpAdapter()
      .getInstance()
      .inject({ method: 'GET', url: '/docs-json' });
    return answer.json<object>();
  } finally {
    await app.close();
    await rm(dataDir, { recursive: true });
  }
}

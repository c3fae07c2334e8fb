import { mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { NestFactory } from '@nestjs/core';
import { type NestFastifyApplication } from '@nestjs/platform-fastify';
import { APPLICATION_OPTIONS, configureGateway, gatewayAdapter } from '../../src/gateway/bootstrap.js';
import { GatewayModule } from '../../src/gateway/gateway.module.js';
import { settingsFrom } from '../../src/platform/config/settings.js';

interface OpenApiTypescript {
  readonly default: (document: object, options: object) => Promise<unknown[]>;
  readonly astToString: (nodes: unknown[]) => string;
}

const HEAD = '// Written by `npm run console:client` from the OpenAPI document of the gateway. Do not edit.\n';

/** The types of every route, as the console's client needs them. */
export async function consoleClient(): Promise<string> {
  const { default: generate, astToString } = generator();
  return HEAD + astToString(await generate(await openApiDocument(), { alphabetize: true }));
}

/** From the packages of the console, which the product itself does not need. */
function generator(): OpenApiTypescript {
  const require = createRequire(join(process.cwd(), 'console/package.json'));
  return require('openapi-typescript') as OpenApiTypescript;
}

async function openApiDocument(): Promise<object> {
  // New each time: a database there may be of another version.
  const dataDir = await mkdtemp(join(tmpdir(), 'switchyard-console-client-'));
  const settings = settingsFrom({ 'logging.level': 'silent', 'data.dir': dataDir, 'batch.embedded': false });
  const app = await NestFactory.create<NestFastifyApplication>(
    GatewayModule.forRoot(settings, []),
    gatewayAdapter(settings),
    { ...APPLICATION_OPTIONS, logger: false },
  );
  await configureGateway(app, settings).init();
  try {
    const answer = await app.getHttpAdapter().getInstance().inject({ method: 'GET', url: '/docs-json' });
    return answer.json<object>();
  } finally {
    await app.close();
    await rm(dataDir, { recursive: true });
  }
}

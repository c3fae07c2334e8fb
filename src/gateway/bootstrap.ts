import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { Logger } from 'nestjs-pino';
import { type ModelSpec } from '../platform/config/model-spec.js';
import { type Settings } from '../platform/config/settings.js';
import { serveDocs } from './api/docs/swagger.js';
import { fastifyOptions } from './api/fastify-options.js';
import { registerHttpHooks } from './api/http-hooks.js';
import { IntakeGate } from './api/intake-gate.js';
import { GatewayModule } from './gateway.module.js';

export interface GatewayOptions {
  readonly settings: Settings;
  readonly models: readonly ModelSpec[];
}

/**
 * The whole gateway, built but neither listening nor hooked to process signals: tests and `main` add what they need.
 * `app.listen(port, host)` starts it, `app.close()` drains and stops it.
 */
export async function createGateway({ settings, models }: GatewayOptions): Promise<NestFastifyApplication> {
  const app = await NestFactory.create<NestFastifyApplication>(
    GatewayModule.forRoot(settings, models),
    new FastifyAdapter(fastifyOptions(settings)),
    // Fastify's own JSON parser is strict; Nest's would also take urlencoded forms, which no route wants.
    { bodyParser: false, bufferLogs: true, abortOnError: false },
  );
  app.useLogger(app.get(Logger));
  const fastify = app.getHttpAdapter().getInstance();
  fastify.removeContentTypeParser('text/plain');
  registerHttpHooks(fastify, app.get(IntakeGate));
  if (settings.server.docs) serveDocs(app);
  return app;
}

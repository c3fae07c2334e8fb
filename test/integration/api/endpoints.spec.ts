import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { NestFactory } from '@nestjs/core';
import { type NestFastifyApplication } from '@nestjs/platform-fastify';
import { type OpenAPIObject } from '@nestjs/swagger';
import { ENDPOINTS } from '../../../src/contracts/endpoints.js';
import { ERROR_REGISTRY } from '../../../src/core/shared/domain-error.js';
import { APPLICATION_OPTIONS, configureGateway, gatewayAdapter } from '../../../src/gateway/bootstrap.js';
import { GatewayModule } from '../../../src/gateway/gateway.module.js';
import { settingsFrom } from '../../../src/platform/config/settings.js';
import { sttModel, ttsModel } from './models.js';

const table = ENDPOINTS.map(({ method, path }) => `${method} ${path}`).sort();

let app: NestFastifyApplication;
let document: OpenAPIObject;
const routes = new Set<string>();
beforeAll(async () => {
  const settings = settingsFrom({ 'logging.level': 'silent', 'data.dir': join(tmpdir(), 'switchyard-endpoints-spec') });
  const adapter = gatewayAdapter(settings);
  adapter.getInstance().addHook('onRoute', ({ method, url }) => {
    for (const verb of [method].flat()) routes.add(`${verb} ${url.replaceAll(/:(\w+)/g, '{$1}')}`);
  });
  const module = GatewayModule.forRoot(settings, [sttModel(), ttsModel()]);
  app = await NestFactory.create<NestFastifyApplication>(module, adapter, { ...APPLICATION_OPTIONS, logger: false });
  await configureGateway(app, settings).init();
  document = (await get('/docs-json')).json();
});
afterAll(() => app.close());

const get = (url: string) => app.getHttpAdapter().getInstance().inject({ method: 'GET', url });

describe('the endpoint table', () => {
  it('is equal to the routes that are served', () => {
    const served = [...routes].filter(route => !/^(HEAD|OPTIONS) |\/docs/.test(route));
    expect(served.sort()).toEqual(table);
  });

  it('is equal to the paths of the OpenAPI document', () => {
    const described = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map(method => `${method.toUpperCase()} ${path}`),
    );
    expect(described.sort()).toEqual(table);
  });

  it('names no route twice and gives each a summary', () => {
    expect(new Set(table).size).toBe(table.length);
    for (const { summary } of ENDPOINTS) expect(summary).toMatch(/\S/);
  });
});

describe('/docs', () => {
  it('is Swagger UI, ready to try requests', async () => {
    const page = await get('/docs');
    expect([page.statusCode, page.headers['content-type']]).toEqual([200, expect.stringContaining('text/html')]);
    const script = await get('/docs/swagger-ui-init.js');
    expect(script.body).toContain('"tryItOutEnabled": true');
  });

  it('describes uploads as forms with a binary file', () => {
    const { requestBody } = document.paths['/v1/audio/transcriptions']?.post ?? {};
    const schema = document.components?.schemas?.TranscriptionDto;
    expect(requestBody).toMatchObject({ content: { 'multipart/form-data': {} } });
    expect(schema).toMatchObject({
      properties: { file: { format: 'binary' }, file_url: { format: 'uri' } },
      required: ['model'],
    });
  });

  it('describes speech as audio of every format, with bodies to run', () => {
    const { requestBody, responses } = document.paths['/v1/audio/speech']?.post ?? {};
    expect(responses?.['200']).toMatchObject({
      content: { 'audio/mpeg': {}, 'audio/wav': {}, 'text/event-stream': {} },
    });
    expect(requestBody).toMatchObject({
      content: { 'application/json': { examples: { wav: {}, mp3: {}, events: {} } } },
    });
  });

  it('gives errors from the registry, each with an example in the envelope', () => {
    const { responses } = document.paths['/v1/audio/transcriptions']?.post ?? {};
    const example = {
      error: { code: 'queue_full', type: 'rate_limit_error', message: ERROR_REGISTRY.queue_full.help },
    };
    expect(responses?.['429']).toMatchObject({
      content: { 'application/json': { examples: { queue_full: { value: example } } } },
    });
  });
});

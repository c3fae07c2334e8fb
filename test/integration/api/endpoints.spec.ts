import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { NestFactory } from '@nestjs/core';
import { type NestFastifyApplication } from '@nestjs/platform-fastify';
import { type OpenAPIObject } from '@nestjs/swagger';
import { Ajv } from 'ajv';
import { ENDPOINTS, isWork } from '../../../src/contracts/endpoints.js';
import { ERROR_REGISTRY } from '../../../src/contracts/errors/error-registry.js';
import {
  APPLICATION_OPTIONS,
  configureGateway,
  gatewayAdapter,
} from '../../../src/gateway/bootstrap.js';
import { GatewayModule } from '../../../src/gateway/gateway.module.js';
import { PUBLIC_ROUTES } from '../../../src/platform/auth/access-hooks.js';
import { settingsFrom } from '../../../src/platform/config/settings.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { sttModel, ttsModel } from './models.js';

const table = ENDPOINTS.map(({ method, path }) => `${method} ${path}`).sort();

let app: NestFastifyApplication;
let document: OpenAPIObject;
const routes = new Set<string>();
beforeAll(async () => {
  const settings = settingsFrom({
    'logging.level': 'silent',
    'data.dir': temporaryFolder(),
  });
  const adapter = gatewayAdapter(settings);
  adapter.getInstance().addHook('onRoute', ({ method, url }) => {
    for (const verb of [method].flat()) routes.add(`${verb} ${url.replaceAll(/:(\w+)/g, '{$1}')}`);
  });
  const module = GatewayModule.forRoot(settings, [sttModel(), ttsModel()]);
  app = await NestFactory.create<NestFastifyApplication>(module, adapter, {
    ...APPLICATION_OPTIONS,
    logger: false,
  });
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
    expect([page.statusCode, page.headers['content-type']]).toEqual([
      200,
      expect.stringContaining('text/html'),
    ]);
    const script = await get('/docs/swagger-ui-init.js');
    expect(script.body).toContain('"tryItOutEnabled": true');
  });

  it('is shown in no other page and loads nothing from elsewhere; a way out of it is 404', async () => {
    for (const path of ['/docs', '/docs/swagger-ui-init.js', '/docs/swagger-ui.css']) {
      const { headers } = await get(path);
      expect(headers['content-security-policy']).toMatch(
        /^default-src 'none'; script-src 'self'; .*frame-ancestors 'none'$/,
      );
    }
    for (const path of ['/docs/%2e%2e/package.json', '/docs/..%2fpackage.json', '/docs/x/%2E%2E/y'])
      expect((await get(path)).statusCode).toBe(404);
  });

  it('names every status that a route of its kind can answer', () => {
    const missing = operations().flatMap(({ name, path, responses }) => {
      const guarded = !PUBLIC_ROUTES.includes(path.replaceAll(/\{(\w+)\}/g, ':$1'));
      const wanted = [
        ...['400', '429', '500', ...(guarded ? ['401', '403', '503'] : [])],
        ...(name.startsWith('POST') ? ['413', '415', '417', '501'] : []),
        ...(path.includes('{') ? ['404'] : []),
      ];
      return wanted.filter(status => !(status in responses)).map(status => `${name} ${status}`);
    });
    expect(missing).toEqual([]);
  });

  it('names 422 on the 15 routes that work can be repeated on, and 206 and 304 of a file', () => {
    const repeated = operations().filter(
      ({ path, name }) => name.startsWith('POST') && isWork(path),
    );
    expect(repeated.map(({ responses }) => '422' in responses)).toEqual(Array(15).fill(true));
    const { responses } = operations().find(({ name }) => name === 'GET /v1/files/{id}/content')!;
    expect(Object.keys(responses)).toEqual(
      expect.arrayContaining(['200', '206', '304', '404', '416']),
    );
  });

  it('gives every property a type, and every event stream a description and an example', () => {
    const untyped = Object.entries(document.components?.schemas ?? {}).flatMap(([name, schema]) =>
      Object.entries(
        (schema as { properties?: Record<string, { type?: string }> }).properties ?? {},
      )
        .filter(([, property]) => JSON.stringify(property) === '{"type":"object"}')
        .map(([property]) => `${name}.${property}`),
    );
    expect(untyped).toEqual([]);
    expect(document.components?.schemas?.RequestDto).toMatchObject({
      properties: { code: { type: 'string' } },
    });
    const streams = operations().flatMap(({ name, responses }) => {
      const stream = responses['200']?.content?.['text/event-stream'];
      return stream ? [[name, stream.schema.description, stream.example]] : [];
    });
    expect(streams.length).toBe(8);
    for (const [, description, example] of streams) {
      expect(description).toContain('`data: ');
      expect(example).toContain('data: {');
    }
  });

  /** What the document shows of the fields of a schema; undefined: no example. */
  const shown = (schema: unknown) =>
    Object.entries(
      (schema as { properties?: Record<string, { example?: unknown }> }).properties ?? {},
    );

  it('has examples within the bounds of their fields', () => {
    const ajv = new Ajv({ strict: false, validateFormats: false });
    const { components } = document;
    // Empty: a field that the page leaves out of its form.
    const fields = Object.entries(components?.schemas ?? {}).flatMap(([name, schema]) =>
      shown(schema)
        .filter(([, { example = '' }]) => example !== '')
        .map(([property, field]) => ({ name: `${name}.${property}`, field })),
    );
    expect(fields.length).toBeGreaterThan(100);
    const wrong = fields.filter(
      ({ field }) => !ajv.validate({ ...field, components }, field.example),
    );
    expect(wrong.map(({ name }) => name)).toEqual([]);
  });

  it('shows an upload that is within its own limit', async () => {
    const example = shown(document.components!.schemas!.UploadCreateDto).map(
      ([name, field]) => [name, field.example] as const,
    );
    const payload = { ...Object.fromEntries(example), purpose: 'batch' };
    const server = app.getHttpAdapter().getInstance();
    const { statusCode } = await server.inject({ method: 'POST', url: '/v1/uploads', payload });
    expect(statusCode).toBe(200);
  });

  interface Operation {
    readonly name: string;
    readonly path: string;
    readonly responses: Record<
      string,
      {
        content?: Record<string, { schema: { description?: string }; example?: string }>;
      }
    >;
  }

  const operations = (): Operation[] =>
    Object.entries(document.paths).flatMap(([path, methods]) =>
      (Object.entries(methods) as unknown as [string, Pick<Operation, 'responses'>][]).map(
        ([method, { responses }]) => ({
          ...{ name: `${method.toUpperCase()} ${path}`, path, responses },
        }),
      ),
    );

  it('gives errors from the registry, each with an example in the envelope', () => {
    const { responses } = document.paths['/v1/audio/transcriptions']?.post ?? {};
    const example = {
      error: {
        code: 'queue_full',
        type: 'rate_limit_error',
        message: ERROR_REGISTRY.queue_full.help,
      },
    };
    expect(responses?.['429']).toMatchObject({
      content: { 'application/json': { examples: { queue_full: { value: example } } } },
    });
  });
});

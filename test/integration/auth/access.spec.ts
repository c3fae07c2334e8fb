import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { NestFactory } from '@nestjs/core';
import { type NestFastifyApplication } from '@nestjs/platform-fastify';
import {
  APPLICATION_OPTIONS,
  configureGateway,
  gatewayAdapter,
} from '../../../src/gateway/bootstrap.js';
import { GatewayModule } from '../../../src/gateway/gateway.module.js';
import { PUBLIC_ROUTES } from '../../../src/platform/auth/access-hooks.js';
import { settingsFrom } from '../../../src/platform/config/settings.js';
import { sttModel } from '../api/models.js';
import { bearer, KeysFolder } from './keys-folder.js';

type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';

let app: NestFastifyApplication;
let folder: KeysFolder;
const routes: { method: Method; url: string }[] = [];
const keys = { inference: '', admin: '', events: '' };

beforeAll(async () => {
  folder = new KeysFolder();
  for (const scope of ['inference', 'admin', 'events'] as const)
    keys[scope] = folder.add('acme', scope);
  const settings = settingsFrom({
    'logging.level': 'silent',
    'data.dir': join(tmpdir(), 'switchyard-access-spec'),
    'auth.keys_file': folder.file,
    // Every route is tried with wrong keys, which are more than the default allows.
    'auth.failures_per_minute': 0,
    'server.cors_origins': 'https://app.example.com',
  });
  const adapter = gatewayAdapter(settings);
  adapter.getInstance().addHook('onRoute', ({ method, url }) => {
    for (const verb of [method].flat()) {
      if (['GET', 'POST', 'PATCH', 'DELETE'].includes(verb))
        routes.push({ method: verb as Method, url });
    }
  });
  const module = GatewayModule.forRoot(settings, [sttModel()]);
  app = await NestFactory.create<NestFastifyApplication>(module, adapter, {
    ...APPLICATION_OPTIONS,
    logger: false,
  });
  await configureGateway(app, settings).init();
});
afterAll(() => app.close());

async function ask(method: Method, url: string, headers: Record<string, string> = {}) {
  const answer = await app.inject({
    method,
    url: url.replaceAll(/:\w+/g, 'x').replace('*', 'x'),
    headers,
  });
  const isJson = answer.headers['content-type']?.toString().includes('json');
  const { error } = isJson
    ? answer.json<{ error?: { code: string; type: string; message: string } }>()
    : {};
  return {
    status: answer.statusCode,
    code: error?.code,
    error,
    headers: answer.headers,
  };
}

const guarded = () => routes.filter(({ url }) => !PUBLIC_ROUTES.includes(url));

describe('a key without a scheme', () => {
  it.each(['api-key', 'x-api-key'])(
    'in %s is read as a bearer key, which wins over it',
    async name => {
      expect((await ask('GET', '/v1/models', { [name]: keys.inference })).status).toBe(200);
      expect((await ask('GET', '/admin/v1/keys', { [name]: keys.inference })).status).toBe(403);
      const wrong = await ask('GET', '/v1/models', {
        [name]: keys.inference,
        ...bearer('sk-wrong'),
      });
      expect([wrong.status, wrong.code]).toEqual([401, 'invalid_api_key']);
    },
  );
});

describe('every registered route', () => {
  it('is on the list of public routes, or rejects no key, a wrong key and a key in another scheme', async () => {
    expect(guarded().length).toBeGreaterThan(20);
    const open: string[] = [];
    for (const { method, url } of guarded()) {
      const wrong: Record<string, string>[] = [
        {},
        bearer('sk-wrong'),
        { authorization: keys.admin },
        { 'x-api-key': 'sk-wrong' },
      ];
      for (const headers of wrong) {
        const { status, code } = await ask(method, url, headers);
        // Ollama's errors have no codes.
        const expected = url.startsWith('/api/') ? undefined : 'invalid_api_key';
        if (status !== 401 || code !== expected) open.push(`${method} ${url} ${status}`);
      }
    }
    expect(open).toEqual([]);
  });

  it('on the list of public ones exists and answers without a key', async () => {
    for (const url of PUBLIC_ROUTES) {
      expect(routes).toContainEqual({ method: 'GET', url });
      expect((await ask('GET', url)).code).not.toBe('invalid_api_key');
    }
  });

  it('asks for its scope: a key without it gets 403', async () => {
    const refusedTo = async (key: string) => {
      const refused: string[] = [];
      for (const { method, url } of guarded()) {
        const { status, code } = await ask(method, url, bearer(key));
        if (status === 403 && code === 'missing_scope') refused.push(url);
      }
      const rootOf = (url: string) => `/${url.split('/')[1]}`;
      const roots = new Set(refused.map(rootOf));
      // All routes below a root, or none.
      const others = guarded().filter(
        ({ url }) => roots.has(rootOf(url)) && !refused.includes(url),
      );
      expect(others).toEqual([]);
      return roots;
    };
    expect(await refusedTo(keys.inference)).toEqual(new Set(['/admin', '/metrics']));
    const inference = ['/v1', '/asr', '/detect-language', '/tokenize', '/detokenize'];
    expect(await refusedTo(keys.admin)).toEqual(new Set(inference));
    expect(await refusedTo(keys.events)).toEqual(new Set([...inference, '/admin', '/metrics']));
  });
});

describe('paths that try to slip by', () => {
  it.each([
    '/nowhere',
    '/v1',
    '/%61dmin/v1/queue',
    '/health/../admin/v1/queue',
    '//admin/v1/queue',
    '/docs/../metrics',
  ])('%s asks for a key', async url => {
    expect(await ask('GET', url)).toMatchObject({
      status: 401,
      code: 'invalid_api_key',
    });
  });

  it('an unknown path is a 404 for those with a key', async () => {
    expect(await ask('GET', '/nowhere', bearer(keys.events))).toMatchObject({
      status: 404,
      code: 'unknown_url',
    });
  });
});

describe('a refusal', () => {
  it("is OpenAI's envelope, not to be retried, with the request id and the scheme", async () => {
    const { error, headers } = await ask('GET', '/v1/models', bearer('sk-wrong'));
    expect(error).toEqual({
      code: 'invalid_api_key',
      type: 'invalid_request_error',
      param: null,
      message: 'The API key is not valid: unknown, withdrawn or expired.',
    });
    expect(headers).toMatchObject({
      'x-should-retry': 'false',
      'www-authenticate': 'Bearer',
    });
    expect(headers['x-request-id']).toMatch(/^req_/);
  });

  it('of the docs makes a browser ask, and the key is taken as the password there only', async () => {
    expect((await ask('GET', '/docs')).headers['www-authenticate']).toMatch(/^Basic realm=/);
    const authorization = `Basic ${Buffer.from(`me:${keys.inference}`).toString('base64')}`;
    expect((await ask('GET', '/docs', { authorization })).status).toBe(200);
    expect((await ask('GET', '/v1/models', { authorization })).status).toBe(401);
  });
});

describe('cross-origin requests', () => {
  const preflight = (origin: string) =>
    app.inject({
      method: 'OPTIONS',
      url: '/v1/audio/speech',
      headers: {
        origin,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'authorization',
      },
    });

  it('are announced as allowed to a named origin, before any key is asked for', async () => {
    const { statusCode, headers } = await preflight('https://app.example.com');
    expect(statusCode).toBe(204);
    expect(headers).toMatchObject({
      'access-control-allow-origin': 'https://app.example.com',
      'access-control-allow-headers': 'authorization',
      vary: 'Origin',
    });
  });

  it('are not allowed to others, and a refusal can be read by the allowed page', async () => {
    expect((await preflight('https://evil.example')).headers).not.toHaveProperty(
      'access-control-allow-origin',
    );
    const { headers } = await ask('GET', '/v1/models', {
      origin: 'https://app.example.com',
    });
    expect(headers).toMatchObject({
      'access-control-allow-origin': 'https://app.example.com',
      'access-control-expose-headers': expect.stringContaining('x-request-id'),
    });
  });
});

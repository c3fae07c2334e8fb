import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type ExecutionContext } from '@nestjs/common';
import { fastify, type FastifyInstance, type FastifyRequest } from 'fastify';
import { bodyFields, jsonRequest, keepJsonBytes } from './json-body.js';

const MARK = '\uFEFF';

describe('JSON bodies', () => {
  let server: FastifyInstance;
  beforeEach(() => {
    server = fastify();
    keepJsonBytes(server);
    const read = (request: FastifyRequest) => {
      const shown = Object.assign(request, { isMultipart: () => request.url === '/form' });
      const http = { getRequest: () => shown };
      const context = { switchToHttp: () => http } as unknown as ExecutionContext;
      const { fields, bytes } = jsonRequest(undefined, context);
      return { fields, text: bytes.toString() };
    };
    for (const path of ['/v1/x', '/api/x', '/form']) server.post(path, read);
  });
  afterEach(() => server.close());

  const post = async (payload: string, path = '/v1/x', type = 'application/json') => {
    const headers = { 'content-type': type };
    const answer = await server.inject({ method: 'POST', url: path, payload, headers });
    return answer.json<{ fields?: object; text?: string; message?: string; code?: string }>();
  };

  it.each([
    ['its bytes', '{ "a" : 1.50 }', '{ "a" : 1.50 }'],
    ['them without a byte order mark', `${MARK}{"a":1.50}`, '{"a":1.50}'],
    ['them without a priority', '{"a":1.50,"priority":"batch"}', '{"a":1.50}'],
  ])('are read, and kept with %s', async (_, body, text) => {
    expect(await post(body)).toMatchObject({ fields: { a: 1.5 }, text });
  });

  it.each([
    ['{"a":', /cannot be parsed: (?!a field)/],
    ['{"__proto__":1}', /cannot be parsed: a field named `__proto__`/],
    ['{"constructor":{"prototype":1}}', /cannot be parsed: a field named/],
    [`${'['.repeat(2000)}${']'.repeat(2000)}`, /The JSON body/],
    ['[1]', /must be a JSON object; got \[1\]/],
  ])('are refused: %.20s', async (body, message) => {
    const { code, message: said } = await post(body);
    expect(code).toBe('invalid_json');
    expect(said).toMatch(message);
  });

  it('are read of any type below /api, and of no form', async () => {
    expect(await post('{"a":1}', '/api/x', 'text/plain')).toMatchObject({ fields: { a: 1 } });
    expect(await post('{}', '/v1/x', 'text/html')).toMatchObject({ statusCode: 415 });
    expect(await post('{}', '/form')).toMatchObject({ code: 'unsupported_media_type' });
  });

  it('are answered with the digits that they had', async () => {
    const payload = '{"a":12345678901234567890}';
    const headers = { 'content-type': 'application/json' };
    const { body } = await server.inject({ method: 'POST', url: '/v1/x', payload, headers });
    expect(body).toContain(`"fields":${payload}`);
  });

  it('are shown in 80 characters where they are no object', () => {
    expect(() => bodyFields(undefined)).toThrow('must be a JSON object; got nothing.');
    expect(() => bodyFields('x'.repeat(100))).toThrow(`got "${'x'.repeat(79)}.`);
    expect(bodyFields({ a: 1 })).toEqual({ a: 1 });
  });
});

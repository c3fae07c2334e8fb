import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { errorOf, expectError, GatewayRig } from './gateway-rig.js';
import { sttModel, ttsModel } from './models.js';
import { RawHttp } from './raw-http.js';

let rig: GatewayRig;
beforeAll(async () => {
  rig = await GatewayRig.start({ models: [sttModel(), ttsModel()] });
});
afterAll(() => rig.close());

const speak = (body: string, type = 'application/json') =>
  fetch(`${rig.url}/v1/audio/speech`, {
    method: 'POST',
    headers: { 'content-type': type },
    body,
  });

describe('JSON that is none', () => {
  it.each(['{"model": "tts",', 'hello', '', '{"__proto__": {"a": 1}}'])(
    '%j is invalid_json',
    async body => {
      await expectError(await speak(body), {
        status: 400,
        code: 'invalid_json',
      });
    },
  );

  it.each([
    ['{"model": "tts", "input": }', "Unexpected token '}'"],
    ['{"model": "tts",', 'at position 16 (line 1 column 17)'],
    [' ', 'Unexpected end of JSON input'],
    ['{"__proto__": {"a": 1}}', '`__proto__`'],
  ])('%j is told with the place or the reason', async (body, reason) => {
    expect((await errorOf(await speak(body))).message).toContain(reason);
  });

  it.each(['[]', '"tts"', 'null', '7'])('%s, which is no object, is invalid_json', async body => {
    await expectError(await speak(body), {
      status: 400,
      code: 'invalid_json',
    });
  });

  it.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'application/xml',
    'multipart/form-data; boundary=x',
  ])('as %s is unsupported_media_type', async type => {
    await expectError(await speak('{}', type), {
      status: 415,
      code: 'unsupported_media_type',
    });
  });

  it('over the limit is file_too_large', async () => {
    const error = await errorOf(await speak(JSON.stringify({ input: 'x'.repeat(27_000_000) })));
    expect(error).toMatchObject({ status: 413, code: 'file_too_large' });
  });
});

describe('a route that is none', () => {
  it.each([
    '/v1',
    '/v1/audio',
    '/v1/nothing',
    '/v1/audio/transcriptions/a/b',
    `/v1/models/${'x'.repeat(600)}`,
  ])('%s is unknown_url', async path => {
    await expectError(await fetch(rig.url + path), {
      status: 404,
      code: 'unknown_url',
    });
  });

  it.each(['text/plain', 'application/json', 'multipart/form-data'])(
    'is told as such before a body of %s is looked at',
    async type => {
      const post = {
        method: 'POST',
        headers: { 'content-type': type },
        body: '{broken',
      };
      await expectError(await fetch(`${rig.url}/v1/nothing`, post), {
        ...{ status: 404, code: 'unknown_url' },
      });
      await expectError(await fetch(`${rig.url}/v1/models`, post), {
        ...{ status: 405, code: 'method_not_allowed' },
      });
    },
  );

  it('with a URL that cannot be decoded is unknown_url', async () => {
    const raw = await RawHttp.open(rig.port);
    raw.send('GET /v1/models/%zz HTTP/1.1', 'Host: localhost', '', '');
    const { status, head, body } = await raw.answer();
    expect([status, body]).toEqual([404, expect.stringContaining('"code":"unknown_url"')]);
    expect(head).toContain('x-request-id: req_');
    raw.socket.destroy();
  });
});

describe('what an error quotes', () => {
  it.each([`/v1/${'x'.repeat(15_000)}`, `/${'%41'.repeat(5000)}`])(
    'is short however long the path is',
    async path => {
      const error = await errorOf(await fetch(rig.url + path));
      expect([error.status, error.message.length < 300]).toEqual([404, true]);
    },
  );

  it('is short however long a field is', async () => {
    const error = await errorOf(
      await rig.post('/v1/audio/speech', {
        model: 'x'.repeat(100_000),
        input: 'a',
        voice: 'b',
      }),
    );
    expect([error.status, error.message.length <= 2000]).toEqual([404, true]);
  });
});

describe('a header that says how the message travels', () => {
  const get = ['GET /v1/models HTTP/1.1', 'Host: localhost'];
  const post = [
    'POST /v1/audio/speech HTTP/1.1',
    'Host: localhost',
    'Content-Type: application/json',
  ];

  it.each([
    [
      'an unknown Expect',
      417,
      'expectation_failed',
      'Expect',
      [...post, 'Expect: 200-maybe', 'Content-Length: 2', '', '{}'],
    ],
    [
      'a compressed body',
      415,
      'unsupported_media_type',
      'Content-Encoding',
      [...post, 'Content-Encoding: gzip', 'Content-Length: 2', '', '{}'],
    ],
    [
      'another coding before chunked',
      501,
      'transfer_coding_unsupported',
      'Transfer-Encoding',
      [...post, 'Transfer-Encoding: gzip, chunked', '', '2', '{}', '0', '', ''],
    ],
    ['a second Host', 400, 'invalid_value', 'Host', [...get, 'host: evil.example', '', '']],
  ])('%s gets %i %s in the envelope', async (_name, status, code, param, lines) => {
    const raw = await RawHttp.open(rig.port);
    raw.send(...lines);
    const answer = await raw.answer();
    expect([answer.status, JSON.parse(answer.body)]).toMatchObject([
      status,
      { error: { code, param } },
    ]);
    expect(answer.head).toContain('x-request-id: ');
    raw.socket.destroy();
  });

  it('another coding without chunked gets 400, and the connection ends', async () => {
    const raw = await RawHttp.open(rig.port);
    raw.send(...post, 'Transfer-Encoding: gzip', '', '{}');
    const answer = await raw.answer(true);
    expect([answer.status, JSON.parse(answer.body)]).toMatchObject([
      400,
      { error: { type: 'invalid_request_error' } },
    ]);
  });

  it('Expect: 100-continue and Content-Encoding: identity are served', async () => {
    const raw = await RawHttp.open(rig.port);
    raw.send(
      ...post,
      'Expect: 100-continue',
      'Content-Encoding: identity',
      'Content-Length: 2',
      '',
      '{}',
    );
    expect((await raw.head()).status).toBe(100);
    raw.socket.destroy();
  });
});

describe('X-Request-Id that cannot be used', () => {
  const headers = { 'x-request-id': 'a trace with spaces' };

  it('is replaced where nothing can be cancelled by it', async () => {
    const answer = await fetch(`${rig.url}/v1/models`, { headers });
    expect([answer.status, answer.headers.get('x-request-id')]).toEqual([
      200,
      expect.stringMatching(/^req_/),
    ]);
  });

  it('may come twice at a time there', async () => {
    const twice = [1, 2].map(() =>
      fetch(`${rig.url}/v1/models`, { headers: { 'x-request-id': 'trace-1' } }),
    );
    expect((await Promise.all(twice)).map(({ status }) => status)).toEqual([200, 200]);
  });

  it('is refused where it names work', async () => {
    const error = await errorOf(await rig.post('/v1/audio/speech', {}, { headers }));
    expect(error).toMatchObject({
      status: 400,
      code: 'invalid_value',
      param: 'X-Request-Id',
    });
  });
});

describe('addresses that people and clients type', () => {
  it('may end with a slash', async () => {
    for (const path of ['/v1/models/', '/v1/models/stt/', '/health/', '/v1/batches/'])
      expect([path, (await fetch(rig.url + path)).status]).toEqual([path, 200]);
    expect((await rig.post('/v1/audio/speech/', {})).status).toBe(400);
  });

  it('GET / points to the API for programs, and sends browsers to the console', async () => {
    const answer = await fetch(rig.url);
    expect(await answer.json()).toMatchObject({
      name: 'switchyard',
      docs: '/docs',
      openapi: '/docs-json',
      api: '/v1',
    });
    const page = await fetch(rig.url, {
      headers: { accept: 'text/html,*/*' },
      redirect: 'manual',
    });
    expect([page.status, page.headers.get('location')]).toEqual([302, '/console']);
  });
});

describe('a method that a route does not take', () => {
  it.each([
    ['GET', '/v1/audio/transcriptions', 'POST'],
    ['DELETE', '/v1/audio/speech', 'POST'],
    ['PUT', '/v1/models', 'GET, HEAD'],
    ['POST', '/v1/models/stt', 'GET, HEAD'],
    ['GET', '/v1/audio/speech/abc/cancel', 'POST'],
    ['OPTIONS', '/v1/audio/speech', 'POST'],
  ])('%s %s is method_not_allowed with Allow: %s', async (method, path, allow) => {
    const error = await errorOf(await fetch(rig.url + path, { method }));
    expect(error).toMatchObject({ status: 405, code: 'method_not_allowed' });
    expect(error.headers.get('allow')).toBe(allow);
  });
});

it('a request of HTTP/1.1 without Host is invalid_value, in the envelope', async () => {
  const raw = await RawHttp.open(rig.port);
  raw.send('GET /v1/models HTTP/1.1', '', '');
  const { status, body } = await raw.answer();
  expect([status, JSON.parse(body)]).toMatchObject([
    400,
    { error: { code: 'invalid_value', param: 'Host' } },
  ]);
  raw.socket.destroy();
});

describe('bytes that are no HTTP', () => {
  it.each([
    ['garbage', 400, ['hello gateway', '', '']],
    ['headers of 100 kB', 431, ['GET / HTTP/1.1', `X-Long: ${'x'.repeat(100_000)}`, '', '']],
  ])('%s gets %i in the envelope, and the connection ends', async (_name, status, lines) => {
    const raw = await RawHttp.open(rig.port);
    raw.send(...lines);
    const answer = await raw.answer(true);
    expect(answer.status).toBe(status);
    expect(JSON.parse(answer.body)).toMatchObject({
      error: { type: 'invalid_request_error', code: null },
    });
    expect(answer.head).toContain('x-should-retry: false');
  });
});

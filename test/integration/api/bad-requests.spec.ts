import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { errorOf, GatewayRig } from './gateway-rig.js';
import { sttModel, ttsModel } from './models.js';
import { RawHttp } from './raw-http.js';

let rig: GatewayRig;
beforeAll(async () => {
  rig = await GatewayRig.start({ models: [sttModel(), ttsModel()] });
});
afterAll(() => rig.close());

const speak = (body: string, type = 'application/json') =>
  fetch(`${rig.url}/v1/audio/speech`, { method: 'POST', headers: { 'content-type': type }, body });

describe('JSON that is none', () => {
  it.each(['{"model": "tts",', 'hello', '', '{"__proto__": {"a": 1}}'])('%j is invalid_json', async body => {
    expect(await errorOf(await speak(body))).toMatchObject({ status: 400, code: 'invalid_json' });
  });

  it.each([
    ['{"model": "tts", "input": }', "Unexpected token '}'"],
    ['{"model": "tts",', 'at position 16 (line 1 column 17)'],
    [' ', 'Unexpected end of JSON input'],
    ['{"__proto__": {"a": 1}}', '`__proto__`'],
  ])('%j is told with the place or the reason', async (body, reason) => {
    expect((await errorOf(await speak(body))).message).toContain(reason);
  });

  it.each(['[]', '"tts"', 'null', '7'])('%s, which is no object, is invalid_json', async body => {
    expect(await errorOf(await speak(body))).toMatchObject({ status: 400, code: 'invalid_json' });
  });

  it.each(['text/plain', 'application/x-www-form-urlencoded', 'application/xml', 'multipart/form-data; boundary=x'])(
    'as %s is unsupported_media_type',
    async type => {
      expect(await errorOf(await speak('{}', type))).toMatchObject({ status: 415, code: 'unsupported_media_type' });
    },
  );

  it('over the limit is file_too_large', async () => {
    const error = await errorOf(await speak(JSON.stringify({ input: 'x'.repeat(27_000_000) })));
    expect(error).toMatchObject({ status: 413, code: 'file_too_large' });
  });
});

describe('a route that is none', () => {
  it.each(['/', '/v1', '/v1/audio', '/v1/nothing', '/v1/audio/transcriptions/a/b', `/v1/models/${'x'.repeat(600)}`])(
    '%s is unknown_url',
    async path => {
      expect(await errorOf(await fetch(rig.url + path))).toMatchObject({ status: 404, code: 'unknown_url' });
    },
  );

  it.each(['text/plain', 'application/json', 'multipart/form-data'])(
    'is told as such before a body of %s is looked at',
    async type => {
      const post = { method: 'POST', headers: { 'content-type': type }, body: '{broken' };
      expect(await errorOf(await fetch(`${rig.url}/v1/nothing`, post))).toMatchObject({ status: 404, code: 'unknown_url' }); // prettier-ignore
      expect(await errorOf(await fetch(`${rig.url}/v1/models`, post))).toMatchObject({
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
  expect([status, JSON.parse(body)]).toMatchObject([400, { error: { code: 'invalid_value', param: 'Host' } }]);
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
    expect(JSON.parse(answer.body)).toMatchObject({ error: { type: 'invalid_request_error', code: null } });
    expect(answer.head).toContain('x-should-retry: false');
  });
});

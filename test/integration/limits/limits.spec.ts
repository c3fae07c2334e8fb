import { afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { type Redis } from 'ioredis';
import { addApiKey, type ApiKeyEntry } from '../../../src/platform/auth/keys-file.js';
import { type SettingValue } from '../../../src/platform/config/setting-definition.js';
import { type SettingPath } from '../../../src/platform/config/settings.js';
import { FixtureWorker } from '../../support/fixture-worker.js';
import { formOf } from '../../support/form-of.js';
import { handshakeStatus, RealtimeClient } from '../../support/realtime-client.js';
import { redisClient } from '../../support/redis-client.js';
import { RedisServer } from '../../support/redis-server.js';
import { describeWith, REDIS } from '../../support/requires.js';
import { errorOf, expectError, GatewayRig, until } from '../api/gateway-rig.js';
import { sttModel, ttsModel } from '../api/models.js';
import { RawHttp } from '../api/raw-http.js';
import { bearer, KeysFolder } from '../auth/keys-folder.js';
import { FeedClient } from '../live-feed/feed-client.js';

type Settings = Partial<Record<SettingPath, SettingValue>>;

let folder: KeysFolder;
const rigs: GatewayRig[] = [];

beforeAll(() => {
  folder = new KeysFolder();
});
afterEach(async () => {
  for (const rig of rigs.splice(0)) await rig.close();
});

const key = (tenant: string, limits?: ApiKeyEntry['limits']): string =>
  addApiKey(folder.file, { tenant, scopes: ['inference'], ...(limits && { limits }) }).key;

/** No worker: what is let in waits. Keys must be made before. */
async function gateway(settings: Settings, model = sttModel()): Promise<GatewayRig> {
  const rig = await GatewayRig.start({
    models: [model],
    settings: { 'auth.keys_file': folder.file, ...settings },
  });
  rigs.push(rig);
  return rig;
}

const form = (): FormData => formOf({ model: 'stt' });
const send = (rig: GatewayRig, apiKey: string, id?: string): Promise<Response> =>
  rig.post('/v1/audio/transcriptions', form(), {
    headers: { ...bearer(apiKey), ...(id && { 'x-request-id': id }) },
  });

/** A model nobody has: answered at once, and a request like any other. */
const quick = (rig: GatewayRig, apiKey: string): Promise<Response> =>
  rig.post(
    '/v1/audio/speech',
    { model: 'nobody', input: 'x', voice: 'y' },
    { headers: bearer(apiKey) },
  );

describe('without limits', () => {
  it('no answer has a header about them', async () => {
    const acme = key('acme');
    const rig = await gateway({});
    const { headers } = await quick(rig, acme);
    expect([...headers.keys()].filter(name => name.startsWith('x-ratelimit'))).toEqual([]);
  });
});

describe('limits.requests_per_minute', () => {
  it('is told in headers, and over it answers 429 with Retry-After, counted by tenant', async () => {
    const [acme, again, other] = [key('acme'), key('acme'), key('other')];
    const rig = await gateway({ 'limits.requests_per_minute': 3 });
    const first = await quick(rig, acme);
    expect(first.headers.get('x-ratelimit-limit-requests')).toBe('3');
    expect(first.headers.get('x-ratelimit-remaining-requests')).toBe('2');
    expect(first.headers.get('x-ratelimit-reset-requests')).toMatch(/^(20|19(\.\d+)?)s$/);
    await quick(rig, again);
    await quick(rig, acme);
    const refused = await errorOf(quick(rig, again));
    expect(refused).toMatchObject({
      status: 429,
      code: 'rate_limit_exceeded',
      type: 'rate_limit_error',
    });
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    expect(refused.headers.get('x-should-retry')).toBe('true');
    expect(refused.headers.get('x-ratelimit-remaining-requests')).toBe('0');
    expect((await quick(rig, other)).status).toBe(404);
    expect((await fetch(`${rig.url}/v1/models`, { headers: bearer(acme) })).status).toBe(200);
    const admin = addApiKey(folder.file, { tenant: 'ops', scopes: ['admin'] }).key;
    process.emit('SIGHUP');
    const scrape = await (await fetch(`${rig.url}/metrics`, { headers: bearer(admin) })).text();
    expect(scrape).toContain('switchyard_limit_refusals_total{limit="requests_per_minute"} 1');
  });

  it('is another one for a key that has its own', async () => {
    const [big, free, acme] = [
      key('acme', { requests_per_minute: 100 }),
      key('acme', { requests_per_minute: 1e9 }),
      key('acme'),
    ];
    const rig = await gateway({ 'limits.requests_per_minute': 1 });
    expect((await quick(rig, big)).headers.get('x-ratelimit-remaining-requests')).toBe('99');
    expect((await quick(rig, free)).headers.get('x-ratelimit-limit-requests')).toBe('1000000000');
    expect((await quick(rig, acme)).status).toBe(404);
    expect((await quick(rig, acme)).status).toBe(429);
    expect((await quick(rig, big)).status).toBe(404);
  });
});

describe('limits.requests_per_day', () => {
  it('is a quota: SDKs are told not to try again', async () => {
    const acme = key('acme');
    const rig = await gateway({ 'limits.requests_per_day': 1 });
    await quick(rig, acme);
    const refused = await errorOf(quick(rig, acme));
    expect(refused).toMatchObject({
      status: 429,
      code: 'insufficient_quota',
      type: 'insufficient_quota',
    });
    expect(refused.headers.get('x-should-retry')).toBe('false');
  });
});

describe('limits.concurrent_requests', () => {
  it('counts requests until their answers end, live sessions too', async () => {
    const acme = key('acme');
    const rig = await gateway({ 'limits.concurrent_requests': 1 });
    const held = send(rig, acme, 'held');
    const state = async () =>
      (await fetch(`${rig.url}/v1/requests/held`, { headers: bearer(acme) })).status;
    await until(async () => (await state()) === 200);
    await expectError(send(rig, acme), {
      status: 429,
      code: 'rate_limit_exceeded',
    });
    expect(await handshakeStatus(rig.url, bearer(acme))).toBe(429);
    await rig.post('/v1/requests/held/cancel', {}, { headers: bearer(acme) });
    expect((await held).status).toBe(499);
    await until(async () => (await quick(rig, acme)).status === 404);
  });
});

describe('limits.audio_seconds_per_minute', () => {
  it('is charged with what was heard, and refuses once that is used up', async () => {
    const acme = key('acme');
    const worker = new FixtureWorker({ model: 'stt' });
    const model = sttModel({ addresses: [`127.0.0.1:${await worker.start()}`] });
    const rig = await gateway({ 'limits.audio_seconds_per_minute': 1 }, model);
    await rig.ready('stt');
    // Each transcript of the fixture is of one second: it leaves nothing for a minute.
    const answer = await send(rig, acme);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('x-ratelimit-remaining-audio-seconds')).toBe('1');
    await expectError(send(rig, acme), {
      status: 429,
      code: 'rate_limit_exceeded',
    });
    worker.stop();
  });
});

describe('what a live session speaks', () => {
  it('is charged as seconds of audio, too', async () => {
    const acme = key('acme');
    const worker = new FixtureWorker({ model: 'tts', kind: 'tts' });
    const model = ttsModel({ addresses: [`127.0.0.1:${await worker.start()}`] });
    const rig = await gateway({ 'limits.audio_seconds_per_minute': 1 }, model);
    await rig.ready('tts');
    const client = await RealtimeClient.open(rig.url, {}, { headers: bearer(acme) });
    const content = [{ type: 'input_text', text: 'One second and a half.' }];
    const item = { type: 'message', role: 'user', content };
    client.send({ type: 'response.create', response: { input: [item] } });
    expect((await client.next('response.done')).response.status).toBe('completed');
    await until(async () => (await handshakeStatus(rig.url, bearer(acme))) === 429);
    client.socket.close(1000);
    worker.stop();
  });
});

describe('a request that nobody waits for', () => {
  it('has its place until it ends, not until its 202', async () => {
    const acme = key('acme');
    const rig = await gateway({ 'limits.concurrent_requests': 1 });
    const headers = {
      ...bearer(acme),
      prefer: 'respond-async',
      'x-request-id': 'later',
    };
    expect((await rig.post('/v1/audio/transcriptions', form(), { headers })).status).toBe(202);
    await expectError(quick(rig, acme), { status: 429 });
    await rig.post('/v1/requests/later/cancel', {}, { headers: bearer(acme) });
    await until(async () => (await quick(rig, acme)).status === 404);
  });
});

describe('wrong keys', () => {
  it('answer 429 after auth.failures_per_minute of them, while a right key is let in', async () => {
    const acme = key('acme');
    const rig = await gateway({ 'auth.failures_per_minute': 3 });
    const statuses: number[] = [];
    for (let count = 0; count < 5; count++) statuses.push((await quick(rig, 'sk-wrong')).status);
    expect(statuses).toEqual([401, 401, 401, 429, 429]);
    expect((await quick(rig, acme)).status).toBe(404);
  });

  it('count over HTTP, WebSockets and Socket.IO together', async () => {
    const acme = key('acme');
    const rig = await gateway({ 'auth.failures_per_minute': 3 });
    expect((await quick(rig, 'sk-wrong')).status).toBe(401);
    expect(await handshakeStatus(rig.url, bearer('sk-wrong'))).toBe(401);
    await expect(FeedClient.connect(rig.url, 'sk-wrong')).rejects.toMatchObject({
      data: code('invalid_api_key'),
    });
    expect(await handshakeStatus(rig.url, bearer('sk-wrong'))).toBe(429);
    await expect(FeedClient.connect(rig.url, 'sk-wrong')).rejects.toMatchObject({
      data: code('rate_limit_exceeded'),
    });
    expect((await quick(rig, 'sk-wrong')).status).toBe(429);
    expect(await handshakeStatus(rig.url, bearer(acme))).toBe(101);
  });

  const code = (expected: string) => ({ error: { code: expected } });
});

describeWith(REDIS)('two gateways with one Redis', () => {
  it('hold a tenant to one limit together, and go on alone when Redis dies', async () => {
    const [acme, warm, warmer] = [key('acme'), key('warm'), key('warmer')];
    await using server = await RedisServer.start();
    const settings = { 'limits.requests_per_minute': 3, 'redis.url': server.url };
    const [one, other] = [await gateway(settings), await gateway(settings)];
    const redis = redisClient(server.url);
    await shared(one, redis, 'warm', warm);
    await shared(other, redis, 'warmer', warmer);
    redis.disconnect();
    const left: (string | null)[] = [];
    for (const rig of [one, other, one, other])
      left.push((await quick(rig, acme)).headers.get('x-ratelimit-remaining-requests'));
    expect(left).toEqual(['2', '1', '0', '0']);
    expect((await quick(one, acme)).status).toBe(429);
    await server.kill();
    expect((await quick(one, acme)).status).toBe(404);
    expect((await quick(other, acme)).status).toBe(404);
  });
});

const part = (head: string, value: string) =>
  `--b\r\nContent-Disposition: form-data; ${head}\r\n\r\n${value}\r\n`;
const BODY = `${part('name="model"', 'stt')}${part('name="file"; filename="a.wav"', 'audio')}--b--\r\n`;

/** A transcription whose body does not come. */
async function slowBody(rig: GatewayRig, apiKey: string, ...headers: string[]): Promise<RawHttp> {
  const raw = await RawHttp.open(rig.port);
  raw.send(
    'POST /v1/audio/transcriptions HTTP/1.1',
    'Host: localhost',
    'Content-Type: multipart/form-data; boundary=b',
    `Authorization: ${bearer(apiKey).authorization}`,
    ...headers,
    '',
    '',
  );
  return raw;
}

const LARGE = 'Content-Length: 1000000';

describe('server.max_receiving', () => {
  it('1: answers 429 queue_full with Retry-After before it reads a second body, until the first is queued', async () => {
    const acme = key('acme');
    const rig = await gateway({ 'server.max_receiving': 1 });
    const first = await slowBody(rig, acme, `Content-Length: ${BODY.length}`);
    await until(async () => (await quick(rig, acme)).status === 429);
    const { status, code, headers } = await errorOf(quick(rig, acme));
    expect([status, code, headers.get('retry-after')]).toEqual([429, 'queue_full', '1']);
    first.send(BODY);
    await until(async () => (await quick(rig, acme)).status === 404);
    first.socket.destroy();
  });

  it('another tenant is received in place of the slowest body of the one that fills it, which ends with 408', async () => {
    const [acme, other] = [key('acme'), key('other')];
    const rig = await gateway({ 'server.max_receiving': 3 });
    const slow = await Promise.all([1, 2, 3].map(() => slowBody(rig, acme, LARGE)));
    await until(async () => (await quick(rig, acme)).status === 429);
    expect((await quick(rig, other)).status).toBe(404);
    const ended = await Promise.race(slow.map(one => one.answer(true)));
    expect(ended.status).toBe(408);
    for (const one of slow) one.socket.destroy();
  });

  it('counts requests of one id as what they are: two', async () => {
    const acme = key('acme');
    const rig = await gateway({ 'server.max_receiving': 2 });
    const slow = await Promise.all(
      [1, 2].map(() => slowBody(rig, acme, LARGE, 'X-Request-Id: same')),
    );
    await until(async () => (await quick(rig, acme)).status === 429);
    for (const one of slow) one.socket.destroy();
  });

  it('leaves one place in eight to small bodies and REALTIME', async () => {
    const acme = key('acme');
    const rig = await gateway({ 'server.max_receiving': 8 });
    const slow = await Promise.all(Array.from({ length: 9 }, () => slowBody(rig, acme, LARGE)));
    let refused = 0;
    for (const one of slow)
      void one.head().then(({ status }) => (refused += status === 429 ? 1 : 0));
    await until(() => refused === 2);
    expect((await quick(rig, acme)).status).toBe(404);
    for (const one of slow) one.socket.destroy();
  });
});

/**
 * The connection of a gateway that has just started may be on its way: until then
 * it counts alone.
 */
async function shared(
  rig: GatewayRig,
  redis: Redis,
  tenant: string,
  apiKey: string,
): Promise<void> {
  await until(async () => {
    await quick(rig, apiKey);
    return (await redis.exists(`switchyard:limits:{tenant:${tenant}}`)) === 1;
  });
}

import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { fastify, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { type SettingOverrides } from '../../../test/support/gateway-process.js';
import { DomainError } from '../../core/errors/domain-error.js';
import { type StoredRequest } from '../../core/request/stored-request.js';
import { admitAs } from '../../platform/auth/access-hooks.js';
import { ANYBODY, type Principal } from '../../platform/auth/principal.js';
import { INTERNAL_KEY_ID } from '../../platform/auth/short-lived-tokens.js';
import { settingsFrom } from '../../platform/config/settings.js';
import { LONGEST_FORM } from '../http/multipart-form.js';
import { type StoredAnswers } from '../stored-work/stored-answers.js';
import { type WorkAttempt } from '../stored-work/stored-leases.js';
import { type StoredWork } from '../stored-work/stored-work.js';
import { type WorkRuns } from '../stored-work/work-runs.js';
import { type AsyncRequests } from './async-requests.js';
import { IdempotencyService } from './idempotency.service.js';
import { type Replays } from './replays.js';

const CHAT = '/v1/chat/completions';
const FORM = '/v1/audio/transcriptions';
const BODY = '{"model":"m"}';
const KEY = { 'idempotency-key': 'k' };
const ASYNC = { prefer: 'respond-async' };
const sha256 = (...parts: string[]) =>
  parts.reduce((hash, part) => hash.update(part), createHash('sha256')).digest('hex');
const HEAD = sha256(`${CHAT} application/json `, BODY);
const FORM_HEAD = sha256(`${FORM} multipart/form-data `, '4');
/** A line break comes before the first delimiter. */
const FORM_WHOLE = `${FORM_HEAD}.${sha256('\r\nform')}`;

const work = (fields: object = {}): StoredRequest =>
  ({
    requestId: 'first',
    mode: 'waiting',
    status: 'running',
    fingerprint: HEAD,
    ...fields,
  }) as unknown as StoredRequest;

interface Sent {
  readonly url?: string;
  readonly method?: 'POST' | 'PUT';
  readonly payload?: string | Readable;
}

/** A gateway whose stores are scripted. */
class Gateway {
  readonly server: FastifyInstance = fastify({
    genReqId: ({ headers }) => String(headers['x-request-id'] ?? 'req_new'),
    bodyLimit: 1e9,
  });
  readonly service: IdempotencyService;
  principal: Principal = ANYBODY;
  /** What was done, in order. */
  readonly log: string[] = [];
  readonly opened: Record<string, unknown>[] = [];
  readonly received: string[] = [];
  /** What the store has under the name, first to last; then it is free. */
  readonly earlier: StoredRequest[] = [];
  joins: (StoredRequest | undefined)[] = [];
  answer: object | undefined = {
    status: 200,
    headers: { 'x-kept': 'yes', 'content-type': 'text/plain' },
    body: 'kept',
  };
  early: object | undefined;
  receiveFails = false;
  asked: { fingerprint: string } | undefined;

  constructor(settings: SettingOverrides = {}) {
    const release = () => void this.log.push('release');
    const attempt = { work: work(), release, gone: new AbortController().signal } as WorkAttempt;
    const works = {
      open: (given: Record<string, unknown>) => {
        this.opened.push(given);
        const found = this.earlier.shift();
        return Promise.resolve(found ? { work: found } : { work: attempt.work, attempt });
      },
      drop: ({ requestId }: StoredRequest) => Promise.resolve(this.log.push(`drop ${requestId}`)),
      receive: async (_: WorkAttempt, body: AsyncIterable<Buffer>, asked: object) => {
        if (this.receiveFails) throw new DomainError('storage_unavailable', 'Away.');
        this.received.push(String(await buffer(body)));
        this.asked = asked as { fingerprint: string };
        return attempt;
      },
    };
    const runs = { begin: () => Promise.resolve(this.early) };
    const answers = { openAnswer: () => Promise.resolve(this.answer) };
    const asyncs = {
      accept: async ({ requestId }: StoredRequest, reply: FastifyReply) => {
        await reply.code(202).send(requestId);
        return undefined;
      },
    };
    const replays = {
      begin: (_: FastifyReply, begun: WorkAttempt, asked: { fingerprint: string }) => {
        this.log.push(`begin ${begun.work.requestId}`);
        this.asked = asked;
      },
      join: () => Promise.resolve(this.joins.shift()),
    };
    this.service = new IdempotencyService(
      works as unknown as StoredWork,
      runs as unknown as WorkRuns,
      answers as unknown as StoredAnswers,
      asyncs as unknown as AsyncRequests,
      replays as unknown as Replays,
      settingsFrom(settings),
    );
    this.#route();
  }

  #route(): void {
    const { server } = this;
    server.addHook('onRequest', (request, _, done) => {
      admitAs(request, this.principal);
      done();
    });
    server.addHook('preParsing', (request, reply, payload, done) => {
      const served = this.service.serve(request, reply);
      if (served) served.then(body => body && done(null, body), done);
      else done(null, payload);
    });
    server.removeAllContentTypeParsers();
    server.addContentTypeParser('*', (_, payload, done) => {
      text(payload).then(body => done(null, body), done);
    });
    server.setErrorHandler((error: DomainError, _, reply) =>
      reply.code(400).send(`${error.code}: ${error.message}`),
    );
    for (const url of [CHAT, FORM, '/v1/files'])
      server.route({ url, method: ['POST', 'PUT'], handler: ({ body }) => `ran ${String(body)}` });
  }

  async post(
    headers: Record<string, string | string[]>,
    { url = CHAT, method = 'POST', payload = BODY }: Sent = {},
  ) {
    const type = url === FORM ? 'multipart/form-data; boundary=b' : 'application/json';
    const answer = await this.server.inject({
      url,
      method,
      payload,
      headers: { 'content-type': type, ...(headers as Record<string, string>) },
    });
    return answer;
  }
}

let gateway: Gateway;
beforeEach(() => void (gateway = new Gateway()));
afterEach(() => gateway.server.close());

describe('a request whose answer is stored', () => {
  it.each<[string, SettingOverrides, Record<string, string | string[]>, object | undefined]>([
    ['no header', {}, {}, undefined],
    ['a key', {}, KEY, { mode: 'waiting', name: 'key:k', status: 'running' }],
    ['a key of 255', {}, { 'idempotency-key': 'k'.repeat(255) }, { mode: 'waiting' }],
    ['respond-async', {}, ASYNC, { mode: 'async', name: 'id:req_new', status: 'receiving' }],
    ['both', {}, { ...ASYNC, ...KEY }, { mode: 'async', name: 'key:k' }],
    ['preferences', {}, { prefer: 'wait=9, Respond-Async; a=b' }, { mode: 'async' }],
    ['another preference', {}, { prefer: 'respond-asynchronously' }, undefined],
    ['an id without a database', {}, { 'x-request-id': 'i' }, undefined],
    [
      'an id with a database',
      { 'database.url': 'postgres://h/d' },
      { 'x-request-id': 'i' },
      { mode: 'waiting', name: 'id:i' },
    ],
    [
      'an id that is a key',
      { 'requests.idempotency': 'request_id' },
      { 'x-request-id': 'i' },
      { name: 'id:i' },
    ],
    ['no id', { 'requests.idempotency': 'request_id' }, {}, undefined],
    ['an id, only keys', { 'requests.idempotency': 'key' }, { 'x-request-id': 'i' }, undefined],
    ['a key, off', { 'requests.idempotency': 'off' }, KEY, undefined],
    ['respond-async, off', { 'requests.idempotency': 'off' }, ASYNC, { mode: 'async' }],
  ])('is chosen by its headers: %s', async (_, settings, headers, opened) => {
    await gateway.server.close();
    gateway = new Gateway(settings);
    await gateway.post(headers);
    expect(gateway.opened).toHaveLength(opened ? 1 : 0);
    if (opened)
      expect(gateway.opened[0]).toMatchObject({ ...opened, path: CHAT, fingerprint: HEAD });
  });

  it.each([
    ['another method', { method: 'PUT' as const }],
    ['another route', { url: '/v1/files' }],
  ])('is none of %s', async (_, sent) => {
    await gateway.post(KEY, sent);
    expect(gateway.opened).toEqual([]);
  });

  it('is none of those that this gateway runs inside, and one with a query', async () => {
    await gateway.post(KEY, { url: `${CHAT}?a=b` });
    expect(gateway.opened).toMatchObject([{ path: CHAT }]);
    gateway.principal = { ...ANYBODY, keyId: INTERNAL_KEY_ID };
    await gateway.post(KEY);
    expect(gateway.opened).toHaveLength(1);
  });

  it.each([[''], ['k'.repeat(256)], ['ü']])('has no key %j', async key => {
    const { body } = await gateway.post({ 'idempotency-key': key });
    expect(body).toMatch(/^invalid_value: .* 1 to 255 printable ASCII/);
  });
});

describe('the first of a key', () => {
  it('goes to its route with its body, and its answer will be stored', async () => {
    expect((await gateway.post(KEY)).body).toBe(`ran ${BODY}`);
    expect([gateway.log, gateway.asked]).toEqual([['begin first'], work()]);
  });

  it('goes there as a form, whose fingerprint is known when it was read', async () => {
    expect((await gateway.post(KEY, { url: FORM, payload: 'form' })).body).toBe('ran form');
    expect(gateway.asked!.fingerprint).toBe(FORM_WHOLE);
  });

  it.each([
    ['JSON', CHAT, 20],
    ['a form', FORM, 30 + LONGEST_FORM],
  ])('has as many bytes as %s may have, declared or not', async (_, url, most) => {
    await gateway.server.close();
    gateway = new Gateway({ 'server.json_limit_bytes': 20, 'server.upload_limit_bytes': 30 });
    const sent = (length: number, headers: object = {}) =>
      gateway.post(
        { ...ASYNC, ...headers },
        {
          url,
          payload: Readable.from([Buffer.alloc(length, 'x')]),
        },
      );
    expect((await sent(most, { 'content-length': String(most) })).statusCode).toBe(202);
    expect((await sent(most)).statusCode).toBe(202);
    const over = new RegExp(`^file_too_large: .* ${most} bytes`);
    expect((await sent(1, { 'content-length': String(most + 1) })).body).toMatch(over);
    expect((await sent(most + 1)).body).toMatch(over);
  });

  it('is given up when its caller has left', async () => {
    const raw = Object.assign(Readable.from([Buffer.from(BODY)]), { headers: {} });
    const request = {
      id: 'i',
      method: 'POST',
      url: CHAT,
      raw,
      headers: { ...KEY },
    } as unknown as FastifyRequest;
    request.headers['content-type'] = 'application/json';
    admitAs(request, ANYBODY);
    const reply = { raw: { destroyed: true } } as unknown as FastifyReply;
    await expect(gateway.service.serve(request, reply)).rejects.toMatchObject({
      code: 'request_cancelled',
    });
    expect(gateway.log).toEqual(['drop first', 'release']);
  });
});

describe('an async request', () => {
  it('is accepted once its body is stored', async () => {
    const { statusCode, body } = await gateway.post(ASYNC);
    expect([statusCode, body, gateway.received]).toEqual([202, 'first', [BODY]]);
    expect(gateway.asked).toEqual(work());
    await gateway.post(ASYNC, { url: FORM, payload: 'form' });
    expect([gateway.received[1], gateway.asked!.fingerprint]).toEqual(['form', FORM_WHOLE]);
    expect(gateway.log).toEqual([]);
  });

  it('is answered at once with what refuses it', async () => {
    gateway.early = { status: 429, headers: { 'x-other': 'no', 'retry-after': '7' }, body: 'full' };
    const { statusCode, body, headers } = await gateway.post(ASYNC);
    expect([statusCode, body, headers['retry-after']]).toEqual([429, 'full', '7']);
    expect(gateway.log).toEqual([]);
  });

  it.each([
    [
      'refused by this gateway',
      () => (gateway.early = { error: new DomainError('queue_full', 'F.') }),
    ],
    ['not stored', () => (gateway.receiveFails = true)],
  ])('leaves nothing when it is %s', async (_, act) => {
    act();
    expect((await gateway.post(ASYNC)).body).toMatch(/^(queue_full|storage_unavailable)/);
    expect(gateway.log).toEqual(['drop first', 'release']);
  });
});

describe('a repeated request', () => {
  const done = work({ status: 'completed' });

  it('receives the answer of the first', async () => {
    [gateway.earlier[0], gateway.joins] = [work(), [done]];
    const { statusCode, body, headers } = await gateway.post(KEY);
    expect([statusCode, body, gateway.log]).toEqual([200, 'kept', []]);
    expect(headers).toMatchObject({ 'x-kept': 'yes', 'idempotent-replayed': 'true' });
  });

  it.each([
    ['is gone', [undefined], []],
    ['has lost its bytes', [done], ['drop first']],
  ])('runs when the first %s', async (_, joins, dropped) => {
    [gateway.earlier[0], gateway.joins, gateway.answer] = [work(), joins, undefined];
    expect((await gateway.post(KEY)).body).toBe(`ran ${BODY}`);
    expect(gateway.log).toEqual([...dropped, 'begin first']);
  });

  it.each<[string, object, Record<string, string>, RegExp]>([
    ['asked for something else', { fingerprint: 'x' }, KEY, /`Idempotency-Key` .* for another/],
    ['was async', { mode: 'async' }, KEY, /before with `Prefer: .*GET \/v1\/requests\/first\./],
    ['was not', {}, { ...ASYNC, ...KEY }, /before without `Prefer/],
    ['was not, of an id', {}, ASYNC, /`X-Request-Id` was used before without/],
  ])('is refused when the first %s', async (_, fields, headers, message) => {
    gateway.earlier.push(work(fields));
    gateway.joins = [done];
    const { body } = await gateway.post(headers);
    expect(body).toMatch(/^idempotency_key_reused/);
    expect(body).toMatch(message);
  });

  it.each(['running', 'completed'])('is accepted as the first, which is %s', async status => {
    const first = work({ mode: 'async', status });
    [gateway.earlier[0], gateway.joins] = [first, [first]];
    if (status === 'running') gateway.answer = undefined;
    const { statusCode, body } = await gateway.post(ASYNC);
    expect([statusCode, body, gateway.log]).toEqual([202, 'first', []]);
  });

  it('is compared by the bytes of its form', async () => {
    const stored = work({ status: 'completed', fingerprint: FORM_WHOLE });
    for (const [payload, answer] of [
      ['form', /^kept$/],
      ['from', /^idempotency_key_reused/],
    ] as const) {
      [gateway.earlier[0], gateway.joins] = [work({ fingerprint: FORM_HEAD }), [stored]];
      const { body } = await gateway.post(KEY, { url: FORM, payload });
      expect(body).toMatch(answer);
    }
  });
});

import { EventEmitter } from 'node:events';
import { PassThrough, Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { setImmediate as turn } from 'node:timers/promises';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { type FastifyReply, type FastifyRequest } from 'fastify';
import { DomainError } from '../../core/errors/domain-error.js';
import { type StoredRequest } from '../../core/request/stored-request.js';
import { settingsFrom } from '../../platform/config/settings.js';
import { watchDisconnect } from '../cancellation/disconnect-watch.js';
import { type SchedulerService } from '../scheduler/scheduler.service.js';
import { type StoredAnswers } from '../stored-work/stored-answers.js';
import { type StoredWork } from '../stored-work/stored-work.js';
import { Replays } from './replays.js';

const work = (fields: object = {}): StoredRequest =>
  ({
    requestId: 'first',
    mode: 'waiting',
    status: 'running',
    ...fields,
  }) as unknown as StoredRequest;
const TAKEN = { code: 'duplicate_request_id' };

describe('the answer of a first attempt', () => {
  let log: string[];
  let stored: { bytes: string; end?: object };
  let scripted: {
    accepting: boolean;
    isWhole: boolean;
    outcome: string;
    storing?: Promise<unknown>;
    now: (StoredRequest | undefined)[];
  };
  let replays: Replays;
  let joining: (joinMs: number) => Replays;
  let gone: AbortController;
  let reply: FastifyReply;
  let raw: EventEmitter;

  beforeEach(() => {
    [log, stored, gone, raw] = [[], { bytes: '' }, new AbortController(), new EventEmitter()];
    scripted = { accepting: true, isWhole: true, outcome: 'ended', now: [] };
    const works = {
      drop: () => Promise.resolve(void log.push('drop')),
      now: () => Promise.resolve(scripted.now.shift()),
      end: (_: StoredRequest, end: object) => {
        Object.assign(stored, { end });
        return Promise.resolve(scripted.outcome);
      },
    };
    const answers = {
      store: async (_: StoredRequest, head: object, bytes: Readable) => {
        stored.bytes = String(await buffer(bytes));
        await scripted.storing;
        return { answer: head, isWhole: scripted.isWhole };
      },
    };
    const scheduler = {
      get accepting() {
        return scripted.accepting;
      },
    };
    joining = joinMs =>
      new Replays(
        works as unknown as StoredWork,
        answers as unknown as StoredAnswers,
        scheduler as unknown as SchedulerService,
        settingsFrom({ 'requests.join_ms': joinMs }),
      );
    replays = joining(60_000);
    const request = { raw: { readableEnded: true } } as unknown as FastifyRequest;
    reply = { raw, request, statusCode: 200, getHeaders: () => ({ a: 'b' }) } as never;
  });

  const begin = () => {
    const release = () => void log.push('release');
    const attempt = { work: work(), gone: gone.signal, release };
    replays.begin(reply, attempt, { fingerprint: 'asked' });
  };
  const kept = (payload: unknown, fields: object = {}): Promise<unknown> => {
    begin();
    Object.assign(reply, fields);
    return replays.keep(reply, payload)!;
  };

  it('is stored before its caller receives it', async () => {
    expect(await kept('answer')).toBe('answer');
    expect(stored).toEqual({
      bytes: 'answer',
      end: {
        status: 'completed',
        fingerprint: 'asked',
        answer: { status: 200, headers: { a: 'b' } },
      },
    });
    await turn();
    expect(log).toEqual(['release']);
    expect(replays.keep(reply, 'again')).toBeUndefined();
  });

  it('is not stored of a failure, which a retry runs again', async () => {
    expect(await kept('bad', { statusCode: 400 })).toBe('bad');
    expect([log, stored]).toEqual([['drop', 'release'], { bytes: '' }]);
  });

  it('is refused where another gateway has the request', async () => {
    gone.abort();
    await expect(kept('bad', { statusCode: 499 })).rejects.toMatchObject(TAKEN);
    expect(log).toEqual(['drop', 'release']);
  });

  it('is dropped by one statement for all in a shutdown', async () => {
    scripted.accepting = false;
    await kept('bad', { statusCode: 503 });
    expect(log).toEqual(['release']);
  });

  it('stops when another gateway has the request', () => {
    begin();
    let isGone = false;
    watchDisconnect(reply, () => (isGone = true));
    gone.abort();
    expect(isGone).toBe(true);
  });

  it.each([
    ['of which not all came', false, ['drop', 'release']],
    ['of which all came', true, []],
  ])('is given up when the connection of a body %s closes', async (_, readableEnded, done) => {
    Object.assign(reply.request.raw, { readableEnded });
    begin();
    raw.emit('close');
    await turn();
    expect(log).toEqual(done);
    const late = replays.keep(reply, 'late');
    expect(late === undefined).toBe(!readableEnded);
    await late;
  });

  it.each([
    ['incomplete', () => (scripted.isWhole = false)],
    ['not stored', () => (scripted.storing = Promise.reject(new Error('full')))],
    ['that of another attempt', () => (scripted.outcome = 'lost')],
  ])('that is %s is not replayed', async (what, act) => {
    void act();
    const sent = kept('answer');
    if (what === 'incomplete') expect(await sent).toBe('answer');
    else await expect(sent).rejects.toThrow(what === 'not stored' ? 'full' : 'still running');
    await turn();
    expect(log).toEqual(what.startsWith('that') ? ['release'] : ['drop', 'release']);
  });

  it('is waited for before the stores close', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    scripted.storing = promise;
    const sent = kept('answer');
    await turn();
    let isClosed = false;
    const closed = replays.onApplicationShutdown().then(() => (isClosed = true));
    await turn();
    expect(isClosed).toBe(false);
    resolve();
    await Promise.all([sent, closed]);
    await replays.onApplicationShutdown();
  });

  describe('as a stream', () => {
    it('comes as it is made, but for its end, which comes when it is stored', async () => {
      const { promise, resolve } = Promise.withResolvers<void>();
      scripted.storing = promise;
      const body = new PassThrough();
      const sent = (await kept(body)) as Readable;
      let received = '';
      sent.on('data', (chunk: Buffer) => (received += chunk.toString()));
      for (const chunk of ['one ', 'two ', 'three']) body.write(chunk);
      await turn();
      expect(received).toBe('one two ');
      body.end();
      await turn();
      await turn();
      expect([received, stored.bytes]).toEqual(['one two ', 'one two three']);
      resolve();
      expect(await buffer(sent)).toBeDefined();
      expect(received).toBe('one two three');
    });

    it.each<[string, () => unknown, boolean]>([
      ['cannot be stored', () => (scripted.storing = Promise.reject(new Error('full'))), true],
      [
        'is full',
        () => (scripted.storing = Promise.reject(new DomainError('storage_full', 'F'))),
        true,
      ],
      ['belongs to another attempt', () => (scripted.outcome = 'lost'), false],
    ])('that %s reaches its caller', async (_, act, isWhole) => {
      act();
      const sent = (await kept(
        Readable.from([Buffer.from('one'), Buffer.from('two')]),
      )) as Readable;
      const all = buffer(sent).then(String);
      if (isWhole) expect(await all).toBe('onetwo');
      else await expect(all).rejects.toMatchObject(TAKEN);
    });

    it('breaks off for both when it fails', async () => {
      const body = new PassThrough();
      const sent = (await kept(body)) as Readable;
      body.destroy(new Error('broken'));
      await expect(buffer(sent)).rejects.toThrow('broken');
      await turn();
      expect(log).toEqual(['drop', 'release']);
    });

    it('is stored although its caller has left', async () => {
      const sent = (await kept(Readable.from([Buffer.from('x')]))) as Readable;
      sent.destroy(new Error('left'));
      await turn();
      expect(sent.destroyed).toBe(true);
    });
  });

  describe('for a retry', () => {
    const join = (request: StoredRequest, left = () => false) => replays.join(request, left);

    it.each<[string, object, boolean]>([
      ['a completed one', { status: 'completed' }, true],
      ['an async one that runs', { mode: 'async' }, true],
      ['an async one that failed', { mode: 'async', status: 'failed' }, true],
      ['a failed one', { status: 'failed' }, false],
    ])('is there at once, or not at all, of %s', async (_, fields, isJoined) => {
      const first = work(fields);
      expect(await join(first)).toBe(isJoined ? first : undefined);
    });

    it('is waited for while the first runs', async () => {
      const done = work({ status: 'completed' });
      scripted.now = [work(), done];
      expect([await join(work()), scripted.now.length]).toEqual([done, 0]);
    });

    it('does not come of one that is gone', async () => {
      expect(await join(work({ mode: 'async', status: 'receiving' }))).toBeUndefined();
    });

    it('does not come within the time to wait', async () => {
      scripted.now = [work()];
      const waited = joining(1).join(work(), () => false);
      await expect(waited).rejects.toMatchObject({ ...TAKEN, retryAfterMs: 1000 });
      expect(scripted.now).toHaveLength(1);
    });

    it('is no longer wanted when the caller has left', async () => {
      await expect(join(work(), () => true)).rejects.toMatchObject({ code: 'request_cancelled' });
    });
  });
});

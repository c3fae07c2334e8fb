import { text } from 'node:stream/consumers';
import { setImmediate as turn } from 'node:timers/promises';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { Subject } from 'rxjs';
import { type DispatchEvent } from '../../core/dispatch/dispatch-event.js';
import { DomainError, type ErrorCode } from '../../core/errors/domain-error.js';
import { requestKey } from '../../core/request/request-key.js';
import { type StoredRequest } from '../../core/request/stored-request.js';
import { type DispatchEventBus } from '../../platform/events/events.module.js';
import { type CancellationManager } from '../cancellation/cancellation-manager.js';
import { type SchedulerService } from '../scheduler/scheduler.service.js';
import { type StorageRetries } from './storage-retries.js';
import { type WorkAnswer } from './stored-answers.js';
import { type StoredLeases, type WorkAttempt } from './stored-leases.js';
import { type StoredWork } from './stored-work.js';
import { jsonAnswer, type WorkRunner, WorkRuns } from './work-runs.js';

const work = (fields: object = {}): StoredRequest =>
  ({
    tenant: 't',
    requestId: 'r',
    mode: 'async',
    path: '/p',
    losses: 0,
    expiresAtMs: Infinity,
    ...fields,
  }) as never;
const refused = (code: ErrorCode): DomainError => new DomainError(code, `It is ${code}.`);

describe('work that no caller waits for', () => {
  let log: string[];
  /** What each run of the work does, first to last. */
  let script: (() => Promise<WorkAnswer>)[];
  let outcomes: string[];
  let scripted: { own: boolean | Error; stored?: StoredRequest; marked: boolean | 'cancelled' };
  let events: Subject<DispatchEvent>;
  let leases: { onAbandoned?: (attempt: WorkAttempt) => void };
  let gone: AbortController;
  let runs: WorkRuns;

  beforeEach(() => {
    [log, script, outcomes] = [[], [], []];
    scripted = { own: false, marked: true };
    [events, gone] = [new Subject(), new AbortController()];
    const works = {
      drop: () => Promise.resolve(void log.push('drop')),
      named: () =>
        scripted.stored instanceof Error
          ? Promise.reject(scripted.stored)
          : Promise.resolve(scripted.stored),
      cancel: () => Promise.resolve(scripted.marked),
      answer: async (_: StoredRequest, status: string, answer: WorkAnswer) => {
        const bytes = Buffer.concat(await Array.fromAsync(answer.body)).toString();
        const { code = '' } = (JSON.parse(bytes) as { error?: { code: string } }).error ?? {};
        const attempts = (answer.headers as Record<string, unknown>)['x-switchyard-attempts'];
        log.push([status, answer.status, code, attempts].filter(Boolean).join(' '));
        return outcomes.shift() ?? 'ended';
      },
    };
    leases = Object.assign({ close: () => Promise.resolve(log.push('close')) });
    const cancellations = {
      cancel: ({ id }: { id: string }, reason: string) => {
        log.push(`cancel ${id} ${reason}`);
        return scripted.own instanceof Error
          ? Promise.reject(scripted.own)
          : Promise.resolve(scripted.own);
      },
    };
    runs = new WorkRuns(
      works as unknown as StoredWork,
      leases as unknown as StoredLeases,
      { written: (write: () => unknown) => write() } as unknown as StorageRetries,
      cancellations as unknown as CancellationManager,
      { withdraw: () => log.push('withdraw') } as unknown as SchedulerService,
      { events$: events } as unknown as DispatchEventBus,
    );
    runs.runWith({
      run: () => script.shift()!(),
      fail: (_, { code }) => Promise.resolve(void log.push(`fail ${code}`)),
    });
  });

  const attempt = (fields?: object): WorkAttempt => ({
    work: work(fields),
    gone: gone.signal,
    release: () => void log.push('release'),
  });
  const accept = (id = 'r', type = 'accepted') =>
    events.next({ type, key: requestKey({ tenant: 't', id }) } as never);
  const done = () => Promise.resolve(jsonAnswer(200, { ok: true }));
  const fails = (code: ErrorCode) => () => Promise.reject(refused(code));
  /** Queues it first, then it ends. */
  async function queued(...runsOfIt: (() => Promise<WorkAnswer>)[]): Promise<void> {
    script = runsOfIt.map((run, at) => () => {
      if (at === 0) accept();
      return turn().then(run);
    });
    expect(await runs.begin(attempt())).toBeUndefined();
    await runs.onApplicationShutdown();
    log.splice(log.indexOf('close'), 1);
  }

  describe('begun here', () => {
    it('is kept once it is queued, and ends with its answer', async () => {
      const { promise, resolve } = Promise.withResolvers<WorkAnswer>();
      script = [() => promise];
      let ends = 0;
      const begun = runs.begin(attempt(), () => ends++);
      let isBegun = false;
      void begun.then(() => (isBegun = true));
      for (const [id, type] of [['other'], ['r', 'leased']]) accept(id, type);
      await turn();
      expect(isBegun).toBe(false);
      accept();
      expect(await begun).toBeUndefined();
      expect([log, ends]).toEqual([[], 0]);
      resolve(await done());
      await runs.onApplicationShutdown();
      expect([log, ends]).toEqual([['close', 'completed 200', 'release'], 1]);
    });

    it.each<[string, () => Promise<WorkAnswer>, object]>([
      ['refused', fails('queue_full'), { error: { code: 'queue_full' } }],
      ['answered with a failure', () => Promise.resolve(jsonAnswer(400, {})), { status: 400 }],
    ])('is dropped, and its caller told, when it is %s before', async (_, run, failure) => {
      script = [run];
      expect(await runs.begin(attempt())).toMatchObject(failure);
      expect(log).toEqual(['drop', 'release']);
    });

    it('may complete before anything says that it is queued', async () => {
      script = [done];
      expect(await runs.begin(attempt())).toBeUndefined();
      expect(log).toEqual(['completed 200', 'release']);
    });

    it('fails with what is no answer at all', async () => {
      script = [() => Promise.reject(new Error('a bug'))];
      await expect(runs.begin(attempt())).rejects.toThrow('a bug');
      expect(log).toEqual(['release']);
    });
  });

  it.each<[ErrorCode, string[]]>([
    ['engine_failed', ['fail engine_failed', 'failed 500 engine_failed', 'release']],
    ['request_cancelled', ['fail request_cancelled', 'cancelled 499 request_cancelled', 'release']],
    ['shutting_down', ['release']],
  ])('that ends with %s: %j', async (code, result) => {
    await queued(fails(code));
    expect(log).toEqual(result);
  });

  it.each<ErrorCode>(['queue_full', 'storage_unavailable', 'duplicate_request_id'])(
    'runs again after what passes, such as %s, until it expires',
    async code => {
      await queued(fails(code), done);
      expect(log).toEqual(['completed 200', 'release']);
    },
  );

  it('does not run again once it has expired', async () => {
    script = [() => (accept(), turn().then(fails('queue_full')))];
    await runs.begin(attempt({ expiresAtMs: Date.now() }));
    await runs.onApplicationShutdown();
    expect(log).toContain('failed 429 queue_full');
  });

  it.each([
    ['before it ran', 0],
    ['while it failed', 1],
  ])('ends without an outcome when another gateway has it %s', async (_, ran) => {
    if (ran === 0) gone.abort();
    script = [() => (gone.abort(), Promise.reject(refused('engine_failed')))];
    expect(await runs.begin(attempt())).toBeUndefined();
    expect(log).toEqual(['release']);
  });

  it('is cancelled where its cancel came before its answer', async () => {
    outcomes = ['cancelling'];
    await queued(done);
    expect(log).toEqual([
      'completed 200',
      'withdraw',
      'fail request_cancelled',
      'cancelled 499 request_cancelled',
      'release',
    ]);
  });

  describe('taken over', () => {
    it.each([
      [2, ['completed 200', 'release']],
      [3, ['fail gateway_lost', 'failed 503 gateway_lost 3', 'release']],
    ])('after %p losses: %j', async (losses, result) => {
      script = [done];
      leases.onAbandoned!(attempt({ losses }));
      await runs.onApplicationShutdown();
      expect(log.filter(line => line !== 'close')).toEqual(result);
    });

    it('waits where it fails in between, and takes what is its own', async () => {
      const own: WorkRunner = { run: () => Promise.resolve(jsonAnswer(201, {})) };
      runs.runWith(own, '/p');
      script = [done];
      leases.onAbandoned!(attempt());
      leases.onAbandoned!(attempt({ path: '/other', requestId: 'other' }));
      await runs.onApplicationShutdown();
      expect(log).toEqual(expect.arrayContaining(['completed 201', 'completed 200']));
    });
  });

  describe('is cancelled', () => {
    const cancel = () => runs.cancel({ tenant: 't', id: 'r' }, 'operator');
    const away = new Error('away');

    it.each<[string, object, boolean | 'throws']>([
      ['it waits for its caller', { own: true }, true],
      ['nothing is known of it', { own: false }, false],
      ['it is stored for its caller', { own: true, stored: work({ mode: 'waiting' }) }, true],
      ['another gateway runs it', { stored: work(), marked: true }, true],
      ['it has completed', { own: true, stored: work(), marked: false }, false],
      ['it was cancelled here', { own: true, stored: work(), marked: 'cancelled' }, true],
      ['it was cancelled before', { own: false, stored: work(), marked: 'cancelled' }, false],
      ['who decides is away', { own: false, stored: away }, 'throws'],
      ['the store is away, and it was not stored', { own: true, stored: away }, true],
    ])('when %s', async (_, known, result) => {
      Object.assign(scripted, known);
      if (result === 'throws') await expect(cancel()).rejects.toThrow('away');
      else expect(await cancel()).toBe(result);
      expect(log).toEqual(['cancel r operator']);
    });

    it('only by who decides while it runs here', async () => {
      Object.assign(scripted, { own: true, stored: away });
      script = [done, () => (accept(), new Promise(() => undefined))];
      await runs.begin(attempt());
      expect(await cancel()).toBe(true);
      await runs.begin(attempt());
      await expect(cancel()).rejects.toThrow('away');
    });

    it.each([
      [false, false],
      [true, true],
      ['cancelled' as const, true],
      [undefined, true],
    ])('by its runner, which says %p', async (stopped, result) => {
      runs.runWith({ run: done, stop: () => Promise.resolve(stopped as boolean) }, '/p');
      Object.assign(scripted, { own: true, stored: work() });
      expect(await cancel()).toBe(result);
    });
  });

  it('has answers in JSON', async () => {
    const { status, headers, body } = jsonAnswer(201, { a: 1 });
    expect([status, headers, await text(body)]).toEqual([
      201,
      { 'content-type': 'application/json; charset=utf-8' },
      '{"a":1}',
    ]);
  });
});

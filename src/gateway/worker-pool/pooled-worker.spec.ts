import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { localSecurity } from '@switchyard/worker-protocol/channel-security.js';
import { type WorkerHealthReport } from '@switchyard/worker-protocol/health.codec.js';
import { Subject } from 'rxjs';
import { generation, innerModel, InnerWorker } from '../../../test/support/inner-worker.js';
import { DomainError } from '../../core/errors/domain-error.js';
import { WorkerLostError } from '../../core/request/worker-lost.js';
import { settingsFrom } from '../../platform/config/settings.js';
import { ProcessLog } from '../../platform/logging/process-log.js';
import { type ExecutedCall, type PoolActivity } from './pool-activity.js';
import { PooledWorker } from './pooled-worker.js';
import { type LocationEvents } from './worker-location.js';

const BREAKER_MS = 100;
const settled = () => new Promise(setImmediate);

describe('a worker of the pool', () => {
  const [onCapacity, onReturn, onProbe, onHung, restart, stop] = [
    jest.fn(),
    jest.fn(),
    jest.fn(),
    jest.fn(),
    jest.fn(),
    jest.fn(),
  ];
  let status: { restarts: number; isStarting?: boolean; problem?: string; pid?: number };
  let location: object;
  let events: LocationEvents;
  let inner: InnerWorker;
  let nowMs: number;
  let worker: PooledWorker;
  let activity: PoolActivity[];
  let executed: ExecutedCall[];
  let lines: string[];
  const all: PooledWorker[] = [];

  beforeEach(() => {
    for (const mock of [onCapacity, onReturn, onProbe, onHung, restart, stop]) mock.mockReset();
    stop.mockImplementation(() => Promise.resolve());
    [status, location, nowMs, inner] = [{ restarts: 0 }, {}, 0, new InnerWorker()];
    [activity, executed, lines] = [[], [], []];
    worker = made();
  });
  afterEach(() => Promise.all(all.splice(0).map(one => one.close())));

  function made(fields: object = {}): PooledWorker {
    const [activity$, executed$] = [new Subject<PoolActivity>(), new Subject<ExecutedCall>()];
    activity$.subscribe(one => activity.push(one));
    executed$.subscribe(one => executed.push(one));
    const log = new ProcessLog(new Logger(), 'w');
    jest.spyOn(log, 'say').mockImplementation((level, line) => void lines.push(`${level} ${line}`));
    const options = {
      settings: settingsFrom({
        ...{ 'workers.breaker_failures': 2, 'workers.breaker_min_ms': BREAKER_MS },
        'workers.health_failures': 2,
      }),
      ...{ clock: { nowMs: () => nowMs }, activity: activity$, executed: executed$, log },
      ...{ id: 'w', model: innerModel(), replica: {}, device: 'cuda:7', pulls: false },
      ...{ isShared: false, onCapacity, onReturn, security: () => localSecurity('t') },
      location: {
        ...{ status, onProbe, onHung, restart, stop, ...location },
        start: (given: LocationEvents) => (events = given),
      },
      ...fields,
    };
    all.push(new PooledWorker(options as unknown as ConstructorParameters<typeof PooledWorker>[0]));
    return all.at(-1)!;
  }

  /** Its process is up, and reports these fields. */
  async function up(health: Partial<WorkerHealthReport> = {}): Promise<void> {
    worker.start();
    inner = new InnerWorker(health);
    events.onStarting();
    events.onReachable(inner);
    await probed();
  }
  async function probed(health?: Partial<WorkerHealthReport>): Promise<void> {
    if (health) inner.health = { ...inner.health, ...health };
    events.onReady();
    await settled();
  }
  async function probeFails(times = 1, error = new Error('silent')): Promise<void> {
    const report = jest.spyOn(inner, 'report');
    report.mockImplementation(() => Promise.reject(error) as never);
    for (let nth = 0; nth < times; nth++) await probed();
    report.mockRestore();
  }
  /** A call of it, and what became of it. */
  function called(id?: string) {
    const call = worker.execute(generation(id));
    return {
      call: call!,
      outcome: call!.reply.then(
        () => 'answered',
        error => error as unknown,
      ),
    };
  }

  it('takes no requests before it has reported that it is ready', async () => {
    expect([worker.state, worker.offer(), worker.slots, worker.running]).toEqual([
      ...['stopped', undefined, undefined, 0],
    ]);
    expect(worker.execute(generation())).toBeUndefined();
    expect(() => worker.lease(1, 'free')).toThrow('no process');
    expect(() => worker.openStream({} as never)).toThrow('no process');
    await up({ state: 'starting' });
    expect([worker.state, worker.offer(), worker.streams]).toEqual([
      ...['starting', undefined, undefined],
    ]);
    await probed({ state: 'ready', streams: 3 });
    expect(worker.streams?.total).toBe(3);
    expect(worker.offer()).toEqual({
      ...{ workerId: 'w', free: 2, urgent: 2, idle: true, maxBatch: 1, total: 2, latencyMs: 0 },
    });
    expect(onCapacity).toHaveBeenCalledTimes(1);
  });

  it('is busy while it has requests, and offers what is left', async () => {
    await up({ overdraft: 1 });
    const [one, two] = worker.lease(2, 'free');
    expect([worker.state, worker.running, worker.offer()]).toMatchObject([
      ...['busy', 2, { free: 0, urgent: 1, idle: false }],
    ]);
    worker.lease(1, 'urgent')[0]?.release();
    const [three] = worker.lease(1, 'urgent');
    expect(worker.offer()).toBeUndefined();
    expect(worker.view().slots).toEqual({ total: 2, free: 0, inUse: 3 });
    for (const lease of [one, two, three]) lease?.release();
    expect([worker.state, onReturn.mock.calls.length]).toEqual(['ready', 4]);
    expect(worker.lease(2, 'free', 1)).toHaveLength(2);
    expect(worker.offer()).toBeUndefined();
  });

  it('tells what it executed, and how fast it was', async () => {
    await up();
    const { outcome } = called();
    nowMs = 30;
    inner.calls[0]?.resolve();
    expect(await outcome).toBe('answered');
    await settled();
    expect(executed).toMatchObject([{ model: 'm', execution: { deviceMs: 1 } }]);
    expect(worker.offer()?.latencyMs).toBe(30);
  });

  it('cancels a request that it has', async () => {
    await up();
    const { call, outcome } = called('r');
    await settled();
    const { key } = generation('r').request;
    expect(await worker.cancel(key, 'client')).toBe(true);
    expect([inner.cancelled, await outcome]).toMatchObject([[key], { code: 'request_cancelled' }]);
    await call.finished;
  });

  it('is suspended after failures in a row, and one request tries it again', async () => {
    await up();
    jest.useFakeTimers({ doNotFake: ['setImmediate'] });
    for (let nth = 0; nth < 2; nth++) {
      const { outcome } = called();
      inner.calls[nth]?.reject(new WorkerLostError('refused', 'it said so'));
      await outcome;
      await settled();
    }
    expect([worker.state, worker.offer(), worker.isTrusted]).toEqual([
      ...['suspended', undefined, false],
    ]);
    expect(worker.view()).toMatchObject({
      ...{ breaker: 'open', problem: expect.stringContaining('2 failures') },
    });
    jest.advanceTimersByTime(BREAKER_MS);
    expect(worker.offer()).toMatchObject({ free: 1, isTrial: true });
    const [lease] = worker.lease(1, 'free');
    expect([worker.offer(), worker.slots?.inUse]).toEqual([undefined, 1]);
    const { outcome } = called();
    inner.calls[2]?.resolve();
    await outcome;
    lease?.release();
    expect([worker.state, worker.isTrusted, worker.view().breaker]).toEqual([
      ...['ready', true, undefined],
    ]);
    jest.useRealTimers();
  });

  it('gets nothing more once an answer says that it drains, until a probe is answered', async () => {
    await up();
    const calls = [called(), called()];
    inner.health = { ...inner.health, state: 'draining' };
    for (const call of inner.calls) call.reject(new DomainError('shutting_down', 'it ends'));
    await Promise.all(calls.map(({ outcome }) => outcome));
    await settled();
    expect([worker.state, worker.offer(), worker.slots]).toEqual([
      'draining',
      undefined,
      undefined,
    ]);
    expect(lines.filter(line => line.includes('accepts no requests'))).toHaveLength(1);
    await probed({ state: 'ready' });
    expect(worker.state).toBe('ready');
  });

  it('is unresponsive after a probe that failed, and lost and ended after several', async () => {
    await up();
    await probeFails();
    expect([worker.state, worker.view().problem, worker.offer()]).toEqual([
      ...['unresponsive', 'silent', undefined],
    ]);
    expect(onProbe).toHaveBeenLastCalledWith('silent', false);
    const { outcome } = called();
    await settled();
    await probeFails();
    expect([worker.state, onHung.mock.calls]).toEqual([
      ...['lost', [['2 health probes failed in a row']]],
    ]);
    expect(await outcome).toBeInstanceOf(WorkerLostError);
  });

  it('that starts may open its port late, and be silent', async () => {
    await up({ state: 'starting' });
    status.isStarting = true;
    await probeFails(2, new Error('away', { cause: { code: 14 } }));
    expect([worker.state, worker.view().problem, onHung.mock.calls]).toEqual([
      ...['starting', undefined, []],
    ]);
    await probeFails();
    expect(worker.view().problem).toBe('silent');
  });

  it('tells what continuous batching did since the last report', async () => {
    const counts = (steps: number) => ({
      generation: {
        ...{ steps, decodeCalls: 0, preemptions: 0, prefixHitTokens: 0, strandedTokens: 0 },
        ...{ losses: 0, running: 0, waiting: 0, blocks: 0, freeBlocks: 0, stepTokens: 0 },
      },
    });
    await up(counts(5));
    await probed(counts(8));
    await probed({ model: 'other', ...counts(9) });
    expect(activity).toMatchObject([
      { type: 'generated', worker: 'w', model: 'm', counts: { steps: 5 } },
      { counts: { steps: 3 } },
    ]);
  });

  it('shows what is known of it', async () => {
    Object.assign(status, { restarts: 4, pid: 7, problem: 'ended' });
    expect(worker.view()).toMatchObject({
      ...{ id: 'w', model: 'm', state: 'stopped', device: 'cuda:7', restarts: 4, pid: 7 },
      ...{ drained: false, problem: 'ended', streams: 0, slots: { total: 0, free: 0, inUse: 0 } },
    });
    await up({ device: 'cuda:1', streams: 2 });
    expect(worker.view()).toMatchObject({ device: 'cuda:1', streams: 2, streamsInUse: 0 });
    await probed({ state: 'draining' });
    expect(worker.view()).toMatchObject({ state: 'draining', streams: 0 });
  });

  it('is drained by an operator until it is resumed, through all its processes', async () => {
    await up();
    expect(worker.order('drain')).toBe(true);
    expect([worker.state, worker.offer(), worker.view().drained]).toEqual([
      ...['draining', undefined, true],
    ]);
    events.onGone();
    expect(worker.state).toBe('lost');
    await up();
    expect(worker.state).toBe('draining');
    worker.order('resume');
    await settled();
    expect([worker.state, worker.view().drained, restart.mock.calls]).toEqual(['ready', false, []]);
  });

  it('is restarted by an operator when its last request has ended', async () => {
    await up();
    const [lease] = worker.lease(1, 'free');
    worker.order('restart');
    expect([restart.mock.calls.length, worker.view().drained]).toEqual([0, true]);
    lease?.release();
    expect(restart).toHaveBeenCalledTimes(1);
    events.onGone();
    await up();
    expect([worker.state, worker.view().drained]).toEqual(['ready', false]);
  });

  it('is restarted at once where nothing runs, or there is no process', async () => {
    worker.order('restart');
    expect([restart.mock.calls.length, worker.view().drained]).toEqual([1, false]);
    await up();
    worker.order('restart');
    expect(restart).toHaveBeenCalledTimes(2);
  });

  it.each([
    [{ isElsewhere: true }, [false, false, false]],
    [{ restart: undefined }, [true, true, false]],
  ])('at %j takes the orders drain, resume and restart: %j', async (where, taken) => {
    location = where;
    worker = made();
    await up();
    expect(['drain', 'resume', 'restart'].map(one => worker.order(one as 'drain'))).toEqual(taken);
  });

  it('says of its end whether a suspect that ran alone may have caused it', async () => {
    expect([(worker.start(), events.onGone())]).toEqual([false]);
    await up();
    worker.lease(1, 'free')[0]?.release();
    expect([events.onGone(), worker.state]).toEqual([false, 'lost']);
    await up();
    worker.lease(1, 'free', 1);
    expect([events.onGone(), worker.offer()]).toEqual([true, undefined]);
  });

  it('is drained for good when its last request has ended', async () => {
    await up();
    const [lease] = worker.lease(1, 'free');
    const drained = jest.fn();
    void worker.drained().then(drained);
    await settled();
    expect([worker.state, worker.isClosing, drained.mock.calls]).toEqual(['draining', true, []]);
    expect([worker.order('resume'), worker.view().drained]).toEqual([true, false]);
    lease?.release();
    await settled();
    expect([drained.mock.calls.length, stop.mock.calls]).toEqual([1, []]);
  });

  it.each([
    [false, [[Infinity]]],
    [true, []],
  ])(
    'that is shared and starting (%s) ends when its process says so',
    async (isStarting, stops) => {
      worker = made({ isShared: true });
      status.isStarting = isStarting;
      await worker.drained();
      expect(stop.mock.calls).toEqual(stops);
    },
  );

  it('ends with its calls, its location and its connection', async () => {
    await up();
    const { outcome } = called();
    await settled();
    await worker.close();
    expect(await outcome).toMatchObject({ code: 'worker_lost' });
    expect([stop.mock.calls, worker.state, worker.execute(generation())]).toEqual([
      ...[[[]], 'draining', undefined],
    ]);
  });
});

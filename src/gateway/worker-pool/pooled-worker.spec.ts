import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { type WorkerHealthReport } from '@switchyard/worker-protocol/health.codec.js';
import {
  REPORT,
  unreachable,
  type WorkerGiven,
  openWorkers,
  pooledWorker,
  settled,
} from '../../../test/support/pooled-worker.js';
import { WorkerLostError } from '../../core/request/worker-lost.js';
import { WorkerConnection } from '../../worker-client/worker-connection.js';

/** Its content does not matter: no connection is made. */
const CALL = {} as never;

afterEach(async () => {
  jest.restoreAllMocks();
  for (const worker of openWorkers.splice(0)) await worker.close();
});

describe('a worker', () => {
  it('takes requests from its first good report on, as many as that says', async () => {
    const { worker, process, events, levels, location } = pooledWorker();
    expect([worker.state, worker.offer(), worker.slots]).toEqual(['stopped', undefined, undefined]);
    process.start();
    process.reachable();
    expect([worker.state, worker.offer()]).toEqual(['starting', undefined]);
    expect(worker.streams).toBeUndefined();
    await process.ready();
    expect([worker.state, events]).toEqual(['ready', ['capacity']]);
    expect(worker.offer()).toEqual({
      workerId: 'm-0',
      free: 4,
      urgent: 4,
      idle: true,
      maxBatch: 2,
      total: 4,
      latencyMs: 0,
    });
    expect([worker.slots?.total, worker.streams?.total]).toEqual([4, 1]);
    expect(levels).toEqual(['info worker starting', 'info worker ready']);
    expect(location.onProbe).toHaveBeenCalledWith(undefined, true);
  });

  it('is busy while a slot is leased, and reports what is returned', async () => {
    const { worker, up, events } = pooledWorker();
    await up();
    const leases = worker.lease(4, 'free');
    expect([worker.state, worker.running, worker.offer()]).toEqual(['busy', 4, undefined]);
    leases[0]!.release();
    expect(events).toEqual(['capacity', 'return']);
    expect(worker.offer()).toMatchObject({ free: 1, idle: false });
    expect(worker.view()).toMatchObject({ slots: { total: 4, free: 1, inUse: 3 }, drained: false });
    for (const lease of leases.slice(1)) lease.release();
    expect(worker.state).toBe('ready');
  });

  it('without a process can be asked for nothing', () => {
    const { worker } = pooledWorker();
    for (const use of [() => worker.lease(1, 'free'), () => worker.openStream(CALL)])
      expect(use).toThrow('worker m-0 has no process');
    expect(worker.execute(CALL) ?? worker.cancel('k' as never, 'client')).toBeUndefined();
    expect([worker.running, worker.view().slots.total]).toEqual([0, 0]);
  });

  it.each<[Partial<WorkerHealthReport>, string, string | undefined]>([
    [{ state: 'starting' }, 'starting', undefined],
    [{ state: 'draining' }, 'draining', undefined],
    [{ model: 'n' }, 'starting', 'model'],
  ])('that reports %j is %s, and gets nothing', async (report, state, problem) => {
    const { worker, up, probed, location } = pooledWorker();
    await up();
    await probed(report);
    const { streams, slots } = worker.view();
    expect([worker.state, worker.offer(), streams, slots.total]).toEqual([state, undefined, 0, 0]);
    expect(worker.view().problem ?? '').toContain(problem ?? '');
    expect(worker.view().problem === undefined).toBe(problem === undefined);
    expect(location.onProbe).toHaveBeenLastCalledWith(expect.any(String), problem === undefined);
    await probed({});
    expect([worker.state, worker.offer()?.free]).toEqual(['ready', 4]);
  });

  it.each([
    ['', 'cuda:1', 'cuda:1'],
    ['cuda:0', 'cuda:1', 'cuda:0'],
  ])(
    'is on the device that it reports, %j, else on that of its configuration',
    async (reported, device, shown) => {
      const { worker, up, probed } = pooledWorker({ device });
      expect(worker.view().device).toBe(device);
      await up();
      await probed({ device: reported });
      expect(worker.view().device).toBe(shown);
    },
  );

  it('reports what was generated since its last report', async () => {
    const { up, probed, events } = pooledWorker();
    await up();
    const generation = { steps: 3, stepTokens: 2 } as never;
    await probed({ generation });
    await probed({ generation, model: 'n' });
    expect(events).toEqual([
      expect.objectContaining({ type: 'generated', worker: 'm-0', model: 'm' }),
    ]);
  });

  it('that does not answer gets nothing, and is lost after several probes', async () => {
    const { worker, up, process, probe, location, levels } = pooledWorker();
    await up();
    const lost = jest.spyOn(WorkerConnection.prototype, 'resetAll');
    probe.mockRejectedValue(new Error('slow'));
    await process.ready();
    expect([worker.state, worker.view().problem]).toEqual(['unresponsive', 'slow']);
    expect(worker.offer()).toBeUndefined();
    expect(location.onProbe).toHaveBeenLastCalledWith('slow', false);
    expect(location.onHung).not.toHaveBeenCalled();
    await process.ready();
    const reason = '2 health probes failed in a row';
    expect([worker.state, location.onHung.mock.calls]).toEqual(['lost', [[reason]]]);
    expect(lost).toHaveBeenCalledWith(reason);
    expect(levels.filter(text => text.startsWith('warn'))).toHaveLength(3);
  });

  it('that has just been started may take its time to listen', async () => {
    const { worker, process, probe, location } = pooledWorker({ status: { isStarting: true } });
    process.start();
    process.reachable();
    probe.mockImplementation(unreachable);
    for (let probes = 0; probes < 3; probes++) await process.ready();
    expect([worker.state, worker.view().problem]).toEqual(['starting', undefined]);
    expect(location.onHung).not.toHaveBeenCalled();
    probe.mockRejectedValue(new Error('bad'));
    await process.ready();
    expect([worker.view().problem, location.onHung.mock.calls]).toEqual(['bad', []]);
  });

  it('whose process is gone is lost; the next one begins anew', async () => {
    const { worker, up, process, probed } = pooledWorker();
    await up();
    await probed({ model: 'n' });
    const retire = jest.spyOn(WorkerConnection.prototype, 'retire');
    expect([process.gone(), retire.mock.calls.length]).toEqual([false, 1]);
    expect([worker.state, worker.offer()]).toEqual(['lost', undefined]);
    expect(worker.view().address).toBeUndefined();
    process.reachable();
    expect([worker.state, worker.view().problem]).toEqual(['starting', undefined]);
    await probed({});
    worker.lease(1, 'free', 1);
    // A suspect that ran alone ended it.
    expect(process.gone()).toBe(true);
  });

  it('counts how long its calls took, unless its process is another one by then', async () => {
    const { worker, up, process, probe, probed, events, now } = pooledWorker();
    await up();
    const replies = [0, 1, 2, 3].map(() => Promise.withResolvers<object>());
    const execute = jest.spyOn(WorkerConnection.prototype, 'execute');
    for (const { promise } of replies) execute.mockReturnValueOnce({ reply: promise } as never);
    now.ms = 100;
    worker.execute(CALL);
    now.ms = 130;
    replies[0]!.resolve({ execution: 'how' });
    await turn();
    expect(events).toEqual([{ model: 'm', execution: 'how' }]);
    expect(worker.offer()?.latencyMs).toBe(30);
    for (let calls = 0; calls < 2; calls++) worker.execute(CALL);
    // It says that it takes no more before a probe does.
    const held = Promise.withResolvers<WorkerHealthReport>();
    probe.mockReturnValueOnce(held.promise);
    replies[1]!.reject(new WorkerLostError('draining', 'goes'));
    replies[2]!.reject(new WorkerLostError('draining', 'goes'));
    await turn();
    expect([worker.state, worker.isTrusted]).toEqual(['draining', false]);
    expect(worker.view().problem).toBe('it accepts no requests: goes');
    held.resolve(REPORT);
    await settled();
    expect(worker.state).toBe('ready');
    worker.execute(CALL);
    process.gone();
    process.reachable();
    await probed({});
    replies[3]!.reject(new WorkerLostError('draining', 'went'));
    await turn();
    expect([worker.state, worker.isTrusted]).toEqual(['ready', true]);
  });

  it('is suspended when it fails again and again, and is tried with one request', async () => {
    const { worker, up } = pooledWorker();
    await up();
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'performance'] });
    const refused = Promise.reject(new WorkerLostError('refused', 'no'));
    jest.spyOn(WorkerConnection.prototype, 'execute').mockReturnValue({ reply: refused } as never);
    for (let calls = 0; calls < 2; calls++) worker.execute(CALL);
    await turn();
    expect([worker.state, worker.view().breaker]).toEqual(['suspended', 'open']);
    expect(worker.offer()).toBeUndefined();
    expect(worker.view().problem).toContain('circuit breaker open');
    jest.advanceTimersByTime(60_000);
    expect(worker.view().breaker).toBe('half_open');
    expect(worker.offer()).toMatchObject({ free: 1, isTrial: true });
    const [lease] = worker.lease(1, 'free');
    expect(worker.offer()).toBeUndefined();
    lease!.release();
    expect(worker.offer()).toMatchObject({ isTrial: true });
    jest.useRealTimers();
  });

  it('whose connection broke is lost until it answers, and a call that does not end counts', async () => {
    const resize = jest.spyOn(WorkerConnection.prototype, 'resize');
    const { worker, up, levels } = pooledWorker();
    await up();
    const { options } = resize.mock.contexts[0] as {
      readonly options: {
        readonly events: { readonly onConnectionLost: () => void; readonly onUnended: () => void };
      };
    };
    const { events } = options;
    events.onConnectionLost();
    events.onConnectionLost();
    expect([worker.state, worker.offer()]).toEqual(['lost', undefined]);
    await settled();
    expect([worker.state, worker.view().breaker]).toEqual(['ready', undefined]);
    events.onUnended();
    expect(levels.at(-1)).toContain('warn a cancelled call did not end within');
    expect([worker.state, worker.view().breaker]).toEqual(['suspended', 'open']);
  });

  it('holds a place for each live stream until that has ended', async () => {
    const { worker, up, events } = pooledWorker();
    await up();
    const finished = Promise.withResolvers<void>();
    const openStream = jest.spyOn(WorkerConnection.prototype, 'openStream');
    openStream.mockReturnValue({ finished: finished.promise } as never);
    worker.openStream(CALL);
    expect([worker.running, worker.view().streamsInUse]).toEqual([1, 1]);
    expect(() => worker.openStream(CALL)).toThrow('1 slots wanted');
    finished.resolve();
    await turn();
    expect([worker.running, events]).toEqual([0, ['return']]);
  });
});

describe('an order', () => {
  it('to drain holds through all processes, until the worker is resumed', async () => {
    const { worker, up, process, probed } = pooledWorker();
    await up();
    expect(worker.order('drain')).toBe(true);
    expect([worker.state, worker.view().drained]).toEqual(['draining', true]);
    await probed({});
    expect(worker.state).toBe('draining');
    process.gone();
    process.reachable();
    await probed({});
    expect([worker.state, worker.view().drained]).toEqual(['draining', true]);
    expect(worker.order('resume')).toBe(true);
    await settled();
    expect([worker.state, worker.view().drained]).toEqual(['ready', false]);
  });

  it('to restart waits for what runs, and is over with its process', async () => {
    const { worker, up, process, location, probed } = pooledWorker();
    await up();
    const [lease] = worker.lease(1, 'free');
    expect([worker.order('restart'), worker.state]).toEqual([true, 'draining']);
    expect(location.restart).not.toHaveBeenCalled();
    lease!.release();
    expect(location.restart).toHaveBeenCalledTimes(1);
    process.gone();
    expect(worker.view().drained).toBe(false);
    process.reachable();
    await probed({});
    expect(worker.state).toBe('ready');
    expect(location.restart).toHaveBeenCalledTimes(1);
  });

  it('to restart is over at once where there is no process', () => {
    const { worker, location } = pooledWorker();
    expect([worker.order('restart'), worker.view().drained]).toEqual([true, false]);
    expect(location.restart).toHaveBeenCalledTimes(1);
    worker.order('drain');
    expect(worker.view().drained).toBe(true);
  });

  it.each<[WorkerGiven, boolean, boolean]>([
    [{}, true, true],
    [{ isRestartable: false }, true, false],
    [{ isElsewhere: true }, false, false],
  ])('at a location %j: to drain %s, to restart %s', (given, drains, restarts) => {
    const { worker } = pooledWorker(given);
    expect([worker.order('drain'), worker.order('restart')]).toEqual([drains, restarts]);
  });

  it('changes nothing once it is closing', async () => {
    const { worker, up } = pooledWorker();
    await up();
    const drained = worker.drained();
    expect([worker.isClosing, worker.state]).toEqual([true, 'draining']);
    expect(worker.order('resume')).toBe(true);
    await drained;
    expect([worker.order('drain'), worker.view().drained]).toEqual([true, false]);
  });
});

describe('the end of a worker', () => {
  it.each<[WorkerGiven, number[][]]>([
    [{}, []],
    [{ isShared: true }, [[Infinity]]],
    [{ isShared: true, status: { isStarting: true } }, []],
  ])('waits for what runs at %j: its process is stopped with %j', async (given, stops) => {
    const { worker, up, location, levels } = pooledWorker(given);
    await up();
    const [lease] = worker.lease(1, 'free');
    let isDrained = false;
    const drained = worker.drained().then(() => (isDrained = true));
    await turn();
    expect([isDrained, worker.offer()]).toEqual([false, undefined]);
    expect(levels.at(-1)).toBe('info worker draining');
    lease!.release();
    await drained;
    expect(location.stop.mock.calls).toEqual(stops);
  });

  it('comes with that of its process', async () => {
    const { worker, up, process } = pooledWorker();
    await up();
    worker.lease(1, 'free');
    const drained = worker.drained();
    process.gone();
    await drained;
    expect(worker.isClosing).toBe(true);
  });

  it('ends what runs when it is closed', async () => {
    const { worker, up, inner, location, process } = pooledWorker();
    await up();
    const retire = jest.spyOn(WorkerConnection.prototype, 'retire');
    process.reachable();
    expect(retire).toHaveBeenCalledTimes(1);
    await worker.close();
    expect(retire).toHaveBeenCalledTimes(2);
    expect([inner.abortAll.mock.calls.length, location.stop.mock.calls]).toEqual([1, [[]]]);
    expect([worker.state, worker.view().slots.total]).toEqual(['draining', 0]);
    process.reachable();
    await process.ready();
    expect(worker.state).toBe('draining');
  });
});

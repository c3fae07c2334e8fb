import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { type FakeWorker, modelWorkers } from '../../../test/support/model-workers.js';
import { modelSpec } from '../../../test/support/pool-harness.js';
import { type ModelSpec } from '../../platform/config/model-spec.js';
import { ModelWorkers } from './model-workers.js';

Logger.overrideLogger(false);
afterEach(() => {
  jest.restoreAllMocks();
  jest.useRealTimers();
});

const DEVICE = [{ id: 'gpu0', as: 'cuda:0' }] as unknown as ModelSpec['device'];

describe('a model', () => {
  it.each<[Partial<ModelSpec>, boolean]>([
    [{}, true],
    [{ autostart: 'on_request' }, false],
    [{ autostart: 'always' }, true],
  ])('with %j is loaded at boot: %s; else by the first request after it', (spec, isLoaded) => {
    const { workers, starts } = modelWorkers(spec);
    workers.demand();
    expect([workers.life, starts()]).toEqual(['unloaded', 0]);
    workers.boot();
    expect(starts()).toBe(isLoaded ? 1 : 0);
    workers.demand();
    workers.demand();
    workers.load();
    expect([workers.life, starts(), workers.isPlaced]).toEqual(['loaded', 1, false]);
  });

  it.each<[Partial<ModelSpec>, string, number]>([
    [{ device: DEVICE }, 'on_request', Infinity],
    [{ device: DEVICE, pin: true }, 'always', 7],
    [{ device: DEVICE, autostart: 'always' }, 'always', 7],
  ])(
    'that shares a device, %j, starts %s: it is put there by others',
    (spec, autostart, sinceMs) => {
      const { workers, now, starts, calls } = modelWorkers(spec);
      now.ms = 7;
      workers.boot();
      workers.demand();
      expect(workers.view().autostart).toBe(autostart);
      expect([workers.place.loadRequestedSinceMs, starts()]).toEqual([sinceMs, 0]);
      workers.loadOn(DEVICE![0]!);
      expect(calls.start.mock.calls).toEqual([['cuda:0']]);
    },
  );

  it('that shares a device is waited for by sessions until it is ready', () => {
    jest.useFakeTimers();
    const waits = (spec: Partial<ModelSpec>, ...fakes: FakeWorker[]) => {
      const { workers } = modelWorkers(spec, ...fakes);
      workers.requestLoad('t');
      return workers.place.loadRequestedSinceMs < Infinity;
    };
    expect(waits({ device: DEVICE })).toBe(true);
    expect(waits({ device: DEVICE }, { state: 'ready' })).toBe(false);
    expect(waits({})).toBe(false);
    const { workers } = modelWorkers({ device: DEVICE });
    void workers.unload(true);
    workers.requestLoad('t');
    expect(workers.place.loadRequestedSinceMs).toBe(Infinity);
  });

  it('that an operator unloaded is loaded by an operator only', async () => {
    const held = modelWorkers();
    await held.workers.unload(true);
    held.workers.boot();
    expect([held.workers.isHeld, held.starts()]).toEqual([false, 1]);
    const other = modelWorkers({ autostart: 'on_request' });
    other.workers.boot();
    await other.workers.unload(true);
    other.workers.demand();
    expect([other.workers.isHeld, other.starts()]).toEqual([true, 0]);
    expect(other.workers.view().startsOnRequest).toBe(false);
    other.workers.load();
    expect([other.workers.isHeld, other.starts()]).toEqual([false, 1]);
  });

  it('is unloaded once its running work has ended, and can be loaded again then', async () => {
    const { workers, events, calls, starts, stopped } = modelWorkers();
    workers.boot();
    const unloaded = workers.unload(false);
    expect(workers.unload(false)).toBe(unloaded);
    expect([workers.life, events, calls.stop.mock.calls.length]).toEqual(['unloading', [], 1]);
    workers.load();
    workers.elsewhere([]);
    expect([starts(), calls.follow.mock.calls.length]).toEqual([1, 0]);
    stopped();
    await unloaded;
    await Promise.resolve();
    expect([events, starts(), workers.life]).toEqual([['capacity m'], 2, 'loaded']);
    expect(calls.populate).toHaveBeenCalledTimes(1);
    // Another unload begins anew.
    await workers.unload(false);
    expect([workers.life, calls.stop.mock.calls.length]).toEqual(['unloaded', 2]);
  });

  it('that shares a device has no free slot for anyone as soon as it is unloaded', async () => {
    const { workers, events, calls, stopped } = modelWorkers({ device: DEVICE });
    workers.loadOn(DEVICE![0]!);
    const unloaded = workers.unload(false);
    expect(events).toEqual(['capacity m']);
    stopped();
    await unloaded;
    expect([events.length, calls.populate.mock.calls]).toEqual([2, [['cuda:0']]]);
  });

  it('follows the workers of another gateway while it is unloaded here', () => {
    const { workers, calls } = modelWorkers();
    workers.elsewhere([]);
    expect(calls.follow).toHaveBeenCalledTimes(1);
    workers.boot();
    workers.elsewhere([]);
    expect(calls.follow).toHaveBeenCalledTimes(1);
  });

  it('whose entry is gone stops for good, after an unload in progress', async () => {
    const { workers, calls, stopped, starts } = modelWorkers();
    expect(workers.computes(modelSpec({ aliases: ['renamed'] }))).toBe(true);
    expect(workers.computes(modelSpec({ engine: 'external' }))).toBe(false);
    workers.boot();
    const unloaded = workers.unload(false);
    const retired = workers.retire();
    await Promise.resolve();
    expect(calls.stop).toHaveBeenCalledTimes(1);
    stopped();
    await Promise.all([unloaded, retired]);
    expect([calls.stop.mock.calls.length, calls.populate.mock.calls.length]).toEqual([2, 0]);
    workers.load();
    workers.elsewhere([]);
    expect([starts(), calls.follow.mock.calls.length]).toEqual([1, 0]);
    expect(workers.computes(modelSpec())).toBe(false);
  });

  it('is unloading once it is closed, and stays closed', async () => {
    const { workers, calls, starts } = modelWorkers();
    await workers.close();
    workers.load();
    expect([workers.life, starts(), calls.close.mock.calls.length]).toEqual(['unloaded', 0, 1]);
    const other = modelWorkers();
    other.workers.boot();
    await other.workers.close();
    expect(other.workers.life).toBe('unloading');
  });

  it('whose files cannot be read has failed, until it is loaded again', () => {
    const { workers, events, calls, starts } = modelWorkers();
    calls.secure.mockImplementationOnce(() => {
      throw new Error('no certificate');
    });
    workers.boot();
    expect([events, starts(), workers.loadProblem]).toEqual([['load_failed'], 0, 'no certificate']);
    expect(workers.view()).toMatchObject({ state: 'failed', reason: 'no certificate' });
    const message = 'The model m cannot be loaded: no certificate';
    expect(workers.loadFailure).toMatchObject({ code: 'model_load_failed', message });
    workers.demand();
    expect(starts()).toBe(0);
    workers.load();
    expect([starts(), workers.loadProblem, workers.loadFailure]).toEqual([1, undefined, undefined]);
  });

  it('whose failure is forgotten by an unload starts with the next request', async () => {
    const { workers, calls, starts } = modelWorkers();
    calls.secure.mockImplementationOnce(() => {
      throw new Error('no certificate');
    });
    workers.boot();
    await workers.unload(false);
    workers.demand();
    expect(starts()).toBe(1);
  });

  it.each<[FakeWorker[], string | undefined, string | undefined]>([
    [[], undefined, undefined],
    [[{ status: { startFailure: 'a' } }], 'a', 'a'],
    [[{ status: { startFailure: 'a' } }, { status: { startFailure: 'b' } }], 'a', 'a'],
    [[{ status: { startFailure: 'a' } }, {}], 'a', undefined],
    [[{}, { status: { lastExit: {}, problem: 'p' } }], 'p', undefined],
    [[{ status: { lastExit: {} } }], 'its process ended', undefined],
    [[{ status: { problem: 'p' } }], undefined, undefined],
  ])(
    'with the workers %j: the problem of its load is %s, its requests fail for %s',
    (fakes, problem, reason) => {
      const { workers } = modelWorkers({}, ...fakes);
      workers.boot();
      expect(workers.loadProblem).toBe(problem);
      const message = reason && `The model m cannot be loaded: ${reason}`;
      expect(workers.loadFailure?.message).toBe(message);
    },
  );

  it('that its device refuses has failed for that', () => {
    const { workers, events } = modelWorkers({ device: DEVICE }, { state: 'ready' });
    workers.place.refuse('no memory', 10);
    expect(events).toEqual(['load_failed']);
    expect(workers.view()).toMatchObject({ state: 'failed', reason: 'no memory' });
    expect(workers.loadFailure?.message).toContain('no memory');
  });

  it.each<[FakeWorker[], object]>([
    [[{ state: 'busy' }, { state: 'lost' }], { state: 'loaded' }],
    [[], { state: 'loading' }],
    [[{ state: 'starting' }, { state: 'lost' }], { state: 'loading' }],
    [[{ state: 'lost', problem: 'p' }], { state: 'failed', reason: 'm-0: p' }],
    [[{ state: 'lost' }], { state: 'failed', reason: 'no worker is up' }],
    [
      [{ state: 'draining', drained: true }],
      { state: 'failed', reason: 'all of its workers are drained' },
    ],
    [
      [
        { state: 'starting', drained: true },
        { state: 'lost', problem: 'p' },
      ],
      { state: 'failed', reason: 'm-0: p' },
    ],
  ])('with the workers %j is %j', (fakes, expected) => {
    const { workers } = modelWorkers({}, ...fakes);
    expect(workers.view().state).toBe(fakes[0]?.state === 'busy' ? 'loaded' : 'unloaded');
    workers.boot();
    expect(workers.view()).toMatchObject(expected);
  });

  it('is idle since it was last needed, and not while something runs', () => {
    const { workers, now, events } = modelWorkers({ idleUnloadS: 9 });
    now.ms = 50;
    expect(workers.view()).toMatchObject({ idleMs: 50, running: 0, idleUnloadS: 9 });
    for (const used of [
      () => workers.demand(),
      () => workers.load(),
      () => workers.reported({} as never),
    ]) {
      now.ms += 10;
      used();
      expect([workers.usedAtMs, workers.view().idleMs]).toEqual([now.ms, 0]);
      now.ms += 5;
      expect(workers.view().idleMs).toBe(5);
    }
    expect(events).toEqual(['executed']);
    const busy = modelWorkers({}, { running: 2 }, { running: 1 });
    busy.now.ms = 50;
    expect(busy.workers.view()).toMatchObject({ idleMs: 0, running: 3 });
  });

  it.each<[FakeWorker[], boolean]>([
    [[], false],
    [[{ state: 'ready', role: 'stream' }], false],
    [[{ state: 'starting' }], false],
    [[{ state: 'starting' }, { state: 'busy', role: 'file' }], true],
  ])('with the workers %j takes files: %s', (fakes, expected) => {
    expect(modelWorkers({}, ...fakes).workers.hasReady).toBe(expected);
  });

  it('shares slots for text only', () => {
    const remote = (fakes: FakeWorker) => {
      const its = modelWorkers({ kind: 'llm' }, fakes);
      Object.assign(its.all[0]!.options, { isRemote: true, model: {} });
      return its.workers.sharedSlots;
    };
    expect(remote({})).toEqual([]);
    expect(modelWorkers({ kind: 'stt' }, {}).workers.sharedSlots).toBeUndefined();
  });
});

describe('the offer of a model', () => {
  const at = (fakes: FakeWorker[], placement?: Parameters<ModelWorkers['offer']>[0]) =>
    modelWorkers({}, ...fakes.map((fake, index) => ({ id: `m-${index}`, ...fake }))).workers.offer(
      placement,
    )?.workerId;

  it.each<[string, FakeWorker[], Parameters<ModelWorkers['offer']>[0], string | undefined]>([
    ['none', [{}, {}], {}, undefined],
    ['the only one', [{}, { free: 1 }], {}, 'm-1'],
    ['the one with most free', [{ free: 1 }, { free: 2 }, { free: 1 }], {}, 'm-1'],
    ['one on trial first', [{ free: 4 }, { free: 1, isTrial: true }], {}, 'm-1'],
    ['one that did not give it back', [{ free: 4 }, { free: 1 }], { avoid: ['m-0'] }, 'm-1'],
    ['none that gave it back while others serve', [{ free: 4 }, {}], { avoid: ['m-0'] }, undefined],
    ['the favourite', [{ free: 4 }, { free: 4 }], { affinity: 'key 3' }, 'm-0'],
    ['the favourite of another key', [{ free: 4 }, { free: 4 }], { affinity: 'key 0' }, 'm-1'],
  ])('is of %s', (_, fakes, placement, expected) => {
    expect(at(fakes, placement)).toBe(expected);
  });

  it('is asked for as many as go together', () => {
    const { workers, all } = modelWorkers({}, { free: 1 });
    expect(workers.offer()).toMatchObject({ workerId: 'm-0' });
    workers.offer({ mostTogether: 3 });
    expect(all[0]!.offer.mock.calls).toEqual([[undefined], [3]]);
  });

  it('of a tenant under suspicion is one replica, the same while it is there', () => {
    const fakes: FakeWorker[] = [
      { id: 'm-0', free: 4, role: 'stream' },
      { id: 'm-1', free: 4, state: 'draining' },
      { id: 'm-2', free: 4, state: 'starting' },
      { id: 'm-3', free: 1 },
      { id: 'm-4', free: 4 },
    ];
    const { workers, all } = modelWorkers({}, ...fakes);
    const suspect = () => workers.offer({ yields: true, mostTogether: 2 })?.workerId;
    expect([suspect(), suspect()]).toEqual(['m-3', 'm-3']);
    expect(all[3]!.offer).toHaveBeenLastCalledWith(2);
    // It stays although another one became ready before it.
    all[2]!.state = 'ready';
    expect(suspect()).toBe('m-3');
    all[3]!.state = 'draining';
    expect(suspect()).toBe('m-2');
  });

  it('of a tenant under suspicion is of all while there is one replica', () => {
    expect(at([{ free: 1 }, { free: 2, role: 'stream' }], { yields: true })).toBe('m-1');
  });
});

import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { type ProcessSupervisor } from '../../platform/process/process-supervisor.js';
import { type InProcessWorker } from '../../worker-client/in-process-worker.js';
import {
  InProcessLocation,
  type LocationEvents,
  ProcessLocation,
  remoteLocation,
} from './worker-location.js';

type SupervisorEvents = Required<Parameters<ProcessSupervisor['start']>[0]>;

/** What a location reports, in order. */
function recorder() {
  const events: string[] = [];
  const listener: LocationEvents = {
    onStarting: () => events.push('starting'),
    onReachable: at => events.push(typeof at === 'string' ? `at ${at}` : 'reachable'),
    onReady: () => events.push('ready'),
    onGone: () => {
      events.push('gone');
      return true;
    },
  };
  return { listener, taken: () => events.splice(0) };
}

beforeEach(() => {
  jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] });
});
afterEach(() => {
  jest.restoreAllMocks();
  jest.useRealTimers();
});

describe('a remote worker', () => {
  it('is assumed to be up, and is never ended', async () => {
    const { listener, taken } = recorder();
    const location = remoteLocation('h:1');
    location.start(listener);
    location.onHung('slow');
    await location.stop();
    expect([taken(), location.status.restarts]).toEqual([['starting', 'at h:1', 'ready'], 0]);
  });
});

describe('a worker in this process', () => {
  const RETRY_MS = 1000;

  function opened(...loads: (() => Promise<readonly string[]>)[]) {
    const notes: string[] = [];
    let opens = 0;
    const { listener, taken } = recorder();
    const location = new InProcessLocation({
      open: () => {
        const at = opens++;
        return {
          load: loads[Math.min(at, loads.length - 1)],
          close: () => Promise.resolve(void notes.push(`closed ${at}`)),
        } as unknown as InProcessWorker;
      },
      retryMs: RETRY_MS,
      log: { say: (_: string, message: string) => notes.push(message) } as never,
      onRestart: () => notes.push('restart'),
      onStartFailed: () => notes.push('start failed'),
    });
    return { location, listener, taken, notes: () => notes.splice(0) };
  }
  const loads = () => Promise.resolve(['a warning']);

  it('is ready once it has loaded, and is closed when it stops', async () => {
    const { location, listener, taken, notes } = opened(loads);
    location.restart();
    expect(taken()).toEqual([]);
    location.start(listener);
    expect(taken()).toEqual(['starting', 'reachable']);
    await turn();
    expect([taken(), notes()]).toEqual([['ready'], ['a warning']]);
    expect(location.status).toMatchObject({ restarts: 0, startFailure: undefined });
    location.onHung();
    await location.stop();
    await location.stop();
    expect([notes(), taken()]).toEqual([['closed 0'], []]);
  });

  it('that cannot start says why, and is tried again after a pause', async () => {
    const fails = () => Promise.reject(new Error('no key'));
    const { location, listener, taken, notes } = opened(fails, fails, loads);
    location.start(listener);
    await turn();
    expect(taken()).toEqual(['starting', 'reachable', 'gone']);
    expect(notes()).toEqual(['worker cannot start', 'closed 0', 'start failed']);
    const { status } = location;
    expect(status).toEqual({ restarts: 0, startFailure: 'no key', problem: 'no key' });
    jest.advanceTimersByTime(RETRY_MS - 1);
    expect(taken()).toEqual([]);
    jest.advanceTimersByTime(1);
    await turn();
    expect([taken(), status.restarts]).toEqual([['starting', 'reachable', 'gone'], 1]);
    jest.advanceTimersByTime(RETRY_MS);
    await turn();
    expect([taken().at(-1), status]).toEqual([
      'ready',
      { restarts: 2, startFailure: undefined, problem: undefined },
    ]);
  });

  it('that is stopped is not tried again, and says nothing when it has loaded', async () => {
    const held = Promise.withResolvers<readonly string[]>();
    const { location, listener, taken, notes } = opened(() => held.promise);
    location.start(listener);
    await location.stop();
    held.reject(new Error('late'));
    await turn();
    expect([taken(), notes(), jest.getTimerCount()]).toEqual([
      ...[['starting', 'reachable'], ['closed 0'], 0],
    ]);
    const other = opened(() => Promise.reject(new Error('no key')));
    other.location.start(other.listener);
    await turn();
    await other.location.stop();
    expect(jest.getTimerCount()).toBe(0);
  });

  it('is replaced when it is restarted', async () => {
    const { location, listener, taken, notes } = opened(loads);
    location.start(listener);
    await turn();
    taken();
    notes();
    location.restart();
    await turn();
    expect(taken()).toEqual(['gone', 'starting', 'reachable', 'ready']);
    expect([notes(), location.status.restarts]).toEqual([['closed 0', 'restart', 'a warning'], 1]);
  });
});

describe('a worker process', () => {
  /** A location whose process is what the test says; a `foreign` one has an address. */
  function supervised(address?: () => string) {
    const { listener, taken } = recorder();
    const location = new ProcessLocation({
      ...{ host: 'h', command: 'none', args: [], env: {}, stopGraceMs: 1 },
      ...(address && { address }),
    } as never);
    const { status } = location;
    let events: SupervisorEvents | undefined;
    jest
      .spyOn(status, 'start')
      .mockImplementation(given => void (events = given as SupervisorEvents));
    const isStarting = jest.spyOn(status, 'isStarting', 'get').mockReturnValue(true);
    const calls = {
      progressed: jest.spyOn(status, 'progressed').mockReturnValue(),
      ready: jest.spyOn(status, 'ready').mockReturnValue(),
      kill: jest.spyOn(status, 'kill').mockReturnValue(),
      restart: jest.spyOn(status, 'restart').mockReturnValue(),
      stop: jest.spyOn(status, 'stop').mockResolvedValue(),
    };
    location.start(listener);
    return { location, taken, isStarting, calls, process: events! };
  }

  it('of this build reports where it listens, what it waits for, and when it is ready', () => {
    const { location, taken, process, calls } = supervised();
    process.onStarting();
    process.onStarted();
    process.onLine();
    expect([taken(), jest.getTimerCount()]).toEqual([['starting'], 0]);
    process.onMessage({ type: 'listening', port: 7 });
    expect([taken(), calls.progressed.mock.calls.length]).toEqual([['at h:7'], 1]);
    process.onMessage({ type: 'listening', port: 'none' });
    process.onMessage({ type: 'other', port: 7 });
    expect([taken(), calls.progressed.mock.calls.length]).toEqual([[], 2]);
    process.onMessage({ type: 'waiting', message: 'loads', isStarting: true });
    expect([location.waiting, calls.progressed.mock.calls.length]).toEqual([undefined, 3]);
    process.onMessage({ type: 'waiting', message: 'no disk', isProblem: true });
    process.onMessage({ type: 'waiting', message: 7 });
    expect(location.waiting).toBe('no disk');
    process.onReady();
    expect([taken(), location.waiting]).toEqual([['ready'], undefined]);
    process.onMessage({ type: 'waiting', message: 'no disk', isProblem: true });
    expect([process.onGone(), taken(), location.waiting]).toEqual([true, ['gone'], undefined]);
    // Its own reports say whether it is ready: probes do not.
    location.onProbe(undefined, true);
    expect(calls.ready).not.toHaveBeenCalled();
  });

  it('of another program is probed from its start, and after its lines until it answers', () => {
    const { location, taken, process, calls, isStarting } = supervised(() => 'h:9');
    process.onStarted();
    expect(taken()).toEqual(['at h:9', 'ready']);
    for (let lines = 0; lines < 2; lines++) process.onLine();
    expect([taken(), jest.getTimerCount()]).toEqual([[], 1]);
    jest.advanceTimersByTime(199);
    expect(taken()).toEqual([]);
    jest.advanceTimersByTime(1);
    expect(taken()).toEqual(['at h:9', 'ready']);
    location.onProbe('loading', false);
    expect(calls.progressed).not.toHaveBeenCalled();
    process.onLine();
    jest.advanceTimersByTime(200);
    expect(taken()).toEqual(['at h:9', 'ready']);
    location.onProbe('loading', true);
    location.onProbe('loading', false);
    expect([calls.progressed, calls.ready].map(({ mock }) => mock.calls.length)).toEqual([1, 0]);
    process.onLine();
    jest.advanceTimersByTime(200);
    // It has a connection already.
    expect(taken()).toEqual(['ready']);
    process.onLine();
    isStarting.mockReturnValue(false);
    jest.advanceTimersByTime(200);
    process.onLine();
    expect([taken(), jest.getTimerCount()]).toEqual([[], 0]);
    location.onProbe(undefined, true);
    expect(calls.ready).toHaveBeenCalledTimes(1);
    process.onReady();
    expect(taken()).toEqual([]);
    // The next process has not answered.
    isStarting.mockReturnValue(true);
    process.onStarted();
    taken();
    process.onLine();
    jest.advanceTimersByTime(200);
    expect(taken()).toEqual(['at h:9', 'ready']);
  });

  it('is ended and replaced by its supervisor', async () => {
    const { location, calls } = supervised();
    location.onHung('slow');
    location.restart();
    await location.stop(5);
    expect([calls.kill, calls.restart, calls.stop].map(({ mock }) => mock.calls)).toEqual([
      ...[[['slow']], [[]], [[5]]],
    ]);
  });
});

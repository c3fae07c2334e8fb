import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { InnerWorker } from '../../../test/support/inner-worker.js';
import { ProcessSupervisor } from '../../platform/process/process-supervisor.js';
import { InProcessLocation, ProcessLocation, remoteLocation } from './worker-location.js';

const LINES_MS = 200;

/** What a location tells, in order. */
function listener(isExcused = false) {
  const told: unknown[] = [];
  const events = {
    onStarting: () => void told.push('starting'),
    onReachable: (at: unknown) => void told.push(at),
    onReady: () => void told.push('ready'),
    onGone: () => (told.push('gone'), isExcused),
  };
  return { told, events, heard: () => told.splice(0) };
}

describe('the process of a worker', () => {
  type Events = Parameters<ProcessSupervisor['start']>[0];
  let supervised: Events;
  let isStarting: boolean;
  const calls: unknown[][] = [];
  const spies: { mockRestore(): void }[] = [];

  beforeEach(() => {
    jest.useFakeTimers();
    [isStarting, calls.length] = [true, 0];
    const { prototype } = ProcessSupervisor;
    spies.push(
      jest.spyOn(prototype, 'start').mockImplementation(events => void (supervised = events)),
      jest.spyOn(prototype, 'isStarting', 'get').mockImplementation(() => isStarting),
      jest.spyOn(prototype, 'stop').mockImplementation(ms => {
        calls.push(['stop', ms]);
        return Promise.resolve();
      }),
      ...(['progressed', 'ready', 'restart', 'kill'] as const).map(name =>
        jest.spyOn(prototype, name).mockImplementation((...args: unknown[]) => {
          calls.push([name, ...args]);
        }),
      ),
    );
  });
  afterEach(() => {
    for (const spy of spies.splice(0)) spy.mockRestore();
    jest.useRealTimers();
  });

  /** @param address of a foreign program; undefined: a worker of this build */
  function started(address?: () => string, isExcused = false) {
    const heard = listener(isExcused);
    const location = new ProcessLocation({
      ...({ command: 'x', args: [], env: {} } as never as ConstructorParameters<
        typeof ProcessLocation
      >[0]),
      host: '127.0.0.1',
      ...(address && { address }),
    });
    location.start(heard.events);
    return { location, ...heard };
  }

  it('of this build says where it listens and when it is ready', () => {
    const { heard, location } = started();
    supervised.onStarting();
    supervised.onStarted?.();
    supervised.onLine?.();
    supervised.onMessage({ type: 'listening', port: 7 });
    supervised.onMessage({ type: 'listening', port: 'none' });
    supervised.onMessage({ type: 'other', port: 8 });
    supervised.onReady();
    jest.advanceTimersByTime(LINES_MS);
    expect(heard()).toEqual(['starting', '127.0.0.1:7', 'ready']);
    location.onProbe('why', true);
    expect(calls).toEqual([['progressed'], ['progressed']]);
  });

  it.each([
    [{ type: 'listening' }, 1],
    [{ type: 'other', isStarting: true }, 1],
    [{ type: 'other', isStarting: 'yes' }, 0],
    [{ type: 'waiting', message: 'why' }, 0],
  ])('makes progress with %j: %d', (message, times) => {
    started();
    supervised.onMessage(message);
    expect(calls.filter(([name]) => name === 'progressed')).toHaveLength(times);
  });

  it('says what it waits for, as a problem or not, until it is ready or gone', () => {
    const { location } = started();
    const says = (fields: object): void => supervised.onMessage({ type: 'waiting', ...fields });
    says({ message: 'upstream away', isProblem: true });
    expect(location.waiting).toBe('upstream away');
    says({ message: 'loading' });
    expect(location.waiting).toBeUndefined();
    for (const end of [() => supervised.onReady(), () => supervised.onGone()]) {
      says({ message: 'upstream away', isProblem: true });
      says({ message: 5 });
      supervised.onMessage({ type: 'other', message: 'no', isProblem: true });
      expect(location.waiting).toBe('upstream away');
      end();
      expect(location.waiting).toBeUndefined();
    }
  });

  it.each([true, false])('passes on whether its end is excused: %s', isExcused => {
    const { heard } = started(undefined, isExcused);
    expect([supervised.onGone(), heard()]).toEqual([isExcused, ['gone']]);
  });

  const ADDRESS = '127.0.0.1:9';
  const foreign = () => started(() => ADDRESS);

  it('that reports nothing is probed from its start, and when it writes', () => {
    const { heard } = foreign();
    supervised.onStarted?.();
    expect(heard()).toEqual([ADDRESS, 'ready']);
    for (let nth = 0; nth < 3; nth++) supervised.onLine?.();
    jest.advanceTimersByTime(LINES_MS - 1);
    expect(heard()).toEqual([]);
    jest.advanceTimersByTime(1);
    expect(heard()).toEqual([ADDRESS, 'ready']);
    supervised.onLine?.();
    jest.advanceTimersByTime(LINES_MS);
    expect(heard()).toEqual([ADDRESS, 'ready']);
    supervised.onReady();
    expect(heard()).toEqual([]);
  });

  it('that reports nothing keeps the connection over which it answered', () => {
    const { heard, location } = foreign();
    supervised.onStarted?.();
    heard();
    location.onProbe('silent', false);
    supervised.onLine?.();
    jest.advanceTimersByTime(LINES_MS);
    expect(heard()).toEqual([ADDRESS, 'ready']);
    location.onProbe('starting', true);
    location.onProbe('silent', false);
    supervised.onLine?.();
    jest.advanceTimersByTime(LINES_MS);
    expect(heard()).toEqual(['ready']);
    supervised.onStarted?.();
    heard();
    supervised.onLine?.();
    jest.advanceTimersByTime(LINES_MS);
    expect(heard()).toEqual([ADDRESS, 'ready']);
  });

  it('that reports nothing is not probed for its lines once it is up', () => {
    const { heard } = foreign();
    supervised.onLine?.();
    isStarting = false;
    jest.advanceTimersByTime(LINES_MS);
    supervised.onLine?.();
    jest.advanceTimersByTime(LINES_MS);
    expect(heard()).toEqual([]);
  });

  it('that reports nothing makes progress with an answer, and is ready with the right one', () => {
    const { location } = foreign();
    location.onProbe('starting', true);
    expect(calls).toEqual([['progressed']]);
    location.onProbe(undefined, true);
    expect(calls.slice(1)).toEqual([['progressed'], ['ready']]);
    location.onProbe('silent', false);
    expect(calls).toHaveLength(3);
  });

  it('is killed, restarted and stopped by its supervisor', async () => {
    const { location } = started();
    location.onHung('hangs');
    location.restart();
    await location.stop(5);
    expect(calls).toEqual([['kill', 'hangs'], ['restart'], ['stop', 5]]);
  });
});

describe('a worker in this process', () => {
  const RETRY_MS = 1000;
  let made: InnerWorker[];
  let loaded: Promise<readonly string[]>;
  const [say, onRestart, onStartFailed] = [jest.fn(), jest.fn(), jest.fn()];
  let heard: () => unknown[];
  let location: InProcessLocation;

  beforeEach(async () => {
    jest.useFakeTimers();
    for (const mock of [say, onRestart, onStartFailed]) mock.mockReset();
    [made, loaded] = [[], Promise.resolve(['old version'])];
    location = new InProcessLocation({
      open: () => {
        const worker = new InnerWorker();
        worker.loaded = loaded;
        made.push(worker);
        return worker;
      },
      retryMs: RETRY_MS,
      log: { say } as never,
      onRestart,
      onStartFailed,
    });
    location.restart();
    location.onHung();
    expect(made).toEqual([]);
    const { events, heard: of } = listener();
    heard = of;
    location.start(events);
    await jest.advanceTimersByTimeAsync(0);
  });
  afterEach(async () => {
    await location.stop();
    jest.useRealTimers();
  });

  it('is ready when it has loaded, with its warnings in its log', () => {
    expect([heard(), say.mock.calls]).toEqual([
      ['starting', made[0], 'ready'],
      [['warn', 'old version']],
    ]);
    expect(location.status).toEqual({ restarts: 0 });
  });

  it('is made anew by a restart', async () => {
    heard();
    location.restart();
    await jest.advanceTimersByTimeAsync(0);
    expect([heard(), made[0]?.isClosed]).toEqual([['gone', 'starting', made[1], 'ready'], true]);
    expect([location.status.restarts, onRestart.mock.calls.length]).toEqual([1, 1]);
  });

  it('that cannot start says why, and is tried again after a pause', async () => {
    heard();
    loaded = Promise.reject(new Error('no key'));
    location.restart();
    await jest.advanceTimersByTimeAsync(0);
    expect(location.status).toEqual({ restarts: 1, startFailure: 'no key', problem: 'no key' });
    expect([heard(), onStartFailed.mock.calls.length, made[1]?.isClosed]).toEqual([
      ['gone', 'starting', made[1], 'gone'],
      1,
      true,
    ]);
    loaded = Promise.resolve([]);
    await jest.advanceTimersByTimeAsync(RETRY_MS - 1);
    expect(made).toHaveLength(2);
    await jest.advanceTimersByTimeAsync(1);
    expect([heard(), location.status]).toEqual([['starting', made[2], 'ready'], { restarts: 2 }]);
  });

  it('that is stopped while it loads, or waits, is not ready and not tried again', async () => {
    heard();
    const gate = Promise.withResolvers<readonly string[]>();
    loaded = gate.promise;
    location.restart();
    await location.stop();
    gate.resolve([]);
    await jest.advanceTimersByTimeAsync(0);
    expect(heard()).toEqual(['gone', 'starting', made[1]]);
    loaded = Promise.reject(new Error('no key'));
    location.restart();
    await jest.advanceTimersByTimeAsync(0);
    await location.stop();
    await jest.advanceTimersByTimeAsync(RETRY_MS);
    expect(made).toHaveLength(3);
  });
});

it('a worker at an address is taken to be there, and is neither started nor ended', async () => {
  const { events, heard } = listener();
  const location = remoteLocation('127.0.0.1:1');
  location.start(events);
  location.onHung('hangs');
  await location.stop();
  expect([heard(), location.status]).toEqual([
    ['starting', '127.0.0.1:1', 'ready'],
    { restarts: 0 },
  ]);
});

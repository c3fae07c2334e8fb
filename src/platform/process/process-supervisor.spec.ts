import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { RestartBackoff } from '@switchyard/engine-api/process/restart-backoff.js';
import { ProcessLog } from '../logging/process-log.js';
import { ProcessSupervisor } from './process-supervisor.js';

const LIMIT_MS = 60_000;
const READY = `process.send({ type: 'ready' }); setInterval(() => undefined, 1000);`;
const DEAF = `process.on('SIGTERM', () => process.send({ type: 'deaf' })); ${READY}`;
/** Takes longer to drain than the grace that its supervisor was given. */
const SLOW = `process.on('SIGTERM', () => setTimeout(() => process.exit(7), 500)); ${READY}`;

const SILENT = 'setInterval(() => undefined, 1000)';
const options = (script: string) => ({
  ...{ what: 'worker', command: process.execPath, args: ['-e', script], env: {} },
  ...{ startTimeoutMs: LIMIT_MS, startLimitMs: LIMIT_MS, stopGraceMs: 20 },
  backoff: new RestartBackoff({ firstMs: 1, longestMs: 1 }),
  log: new ProcessLog(new Logger('spec'), 'spec'),
  nowMs: () => performance.now(),
  onRestart: () => undefined,
});

describe('a start without progress', () => {
  it('may take twice as long with each try', async () => {
    const supervisor = new ProcessSupervisor({ ...options(SILENT), startTimeoutMs: 20 });
    const reasons: (string | undefined)[] = [];
    const { promise, resolve } = Promise.withResolvers<void>();
    supervisor.start({
      onStarting: () => undefined,
      onMessage: () => undefined,
      onReady: () => undefined,
      onGone: () => {
        reasons.push(supervisor.lastExit?.reason);
        if (reasons.length === 3) resolve();
      },
    });
    await promise;
    await supervisor.stop(0);
    const holds = reasons.map(reason => /no progress for (\d+) ms/.exec(reason ?? '')?.[1]);
    expect(holds.slice(0, 3)).toEqual(['20', '40', '80']);
  });
});

describe('the end of a supervised process', () => {
  let supervisor: ProcessSupervisor;
  afterEach(() => supervisor.stop(0));

  /** @returns resolves when it has sent a message of that type */
  async function started(script: string): Promise<(type: string) => Promise<void>> {
    const seen = new Map<string, PromiseWithResolvers<void>>();
    const of = (type: string) => {
      const known = seen.get(type) ?? Promise.withResolvers<void>();
      seen.set(type, known);
      return known;
    };
    supervisor = new ProcessSupervisor(options(script));
    supervisor.start({
      onStarting: () => undefined,
      onMessage: ({ type }) => of(String(type)).resolve(),
      onReady: () => undefined,
      onGone: () => undefined,
    });
    await of('ready').promise;
    return type => of(type).promise;
  }

  it('ends a turn that comes after it, and starts nothing in it', async () => {
    const turn = Promise.withResolvers<() => void>();
    const over = Promise.withResolvers<void>();
    supervisor = new ProcessSupervisor({ ...options(READY), turn: () => turn.promise });
    const nothing = () => undefined;
    supervisor.start({
      ...{ onStarting: nothing, onMessage: nothing, onReady: nothing, onGone: nothing },
    });
    await supervisor.stop();
    turn.resolve(over.resolve);
    await over.promise;
    expect(supervisor.pid).toBeUndefined();
  });

  it('is SIGKILL after the grace that was configured', async () => {
    await started(DEAF);
    await supervisor.stop();
    expect(supervisor.lastExit).toMatchObject({ signal: 'SIGKILL' });
  });

  it('is its own where it may drain without limit', async () => {
    await started(SLOW);
    await supervisor.stop(Infinity);
    expect(supervisor.lastExit).toMatchObject({ code: 7, signal: null });
  });

  it('comes with a later grace where it drains without limit, and no further stop takes that away', async () => {
    const sent = await started(DEAF);
    const ended = supervisor.stop(Infinity);
    await sent('deaf');
    expect(supervisor.pid).toBeGreaterThan(0);
    expect([supervisor.stop(), supervisor.stop(Infinity)]).toEqual([ended, ended]);
    await ended;
    expect(supervisor.lastExit).toMatchObject({ signal: 'SIGKILL' });
  });
});

describe('a supervised process', () => {
  let supervisor: ProcessSupervisor;
  let events: string[];
  let waiting: (() => void)[];
  beforeEach(() => void ([events, waiting] = [[], []]));
  afterEach(() => supervisor.stop(0));

  const told = (event: string) => {
    events.push(event);
    for (const wake of waiting.splice(0)) wake();
  };
  const count = (event: string) => events.filter(each => each === event).length;
  const happened = async (event: string, times = 1) => {
    while (count(event) < times) await new Promise<void>(resolve => waiting.push(resolve));
  };

  type Change = Partial<ConstructorParameters<typeof ProcessSupervisor>[0]>;
  function made(script: string, change: Change = {}, pauseMs = 1) {
    supervisor = new ProcessSupervisor({
      ...options(script),
      backoff: {
        longestMs: 1,
        nextMs: (isExcused: boolean) => (told(`pause ${isExcused}`), pauseMs),
        reset: () => told('reset'),
      } as unknown as RestartBackoff,
      onRestart: () => told('restart'),
      onExit: pid => told(`exit ${typeof pid}`),
      onStartFailed: () => told('start failed'),
      ...change,
    });
  }
  const start = (isExcused?: boolean) =>
    supervisor.start({
      onStarting: () => told('starting'),
      onStarted: () => told('started'),
      onMessage: ({ type }) => told(`message ${String(type)}`),
      onLine: () => told('line'),
      onReady: () => told('ready'),
      onGone: () => (told('gone'), isExcused),
    });
  function run(...wanted: Parameters<typeof made>) {
    made(...wanted);
    start();
  }
  /** One after the other, then `READY`. */
  const inTurn = (...scripts: string[]): Change => ({
    args: () => Promise.resolve(['-e', scripts.shift() ?? READY]),
  });
  const CRASH = `process.send({ type: 'ready' }, () => process.exit(3));`;

  it('is started again after a pause, and told about in order', async () => {
    run(CRASH);
    await happened('ready', 2);
    const first = ['starting', 'started', 'message ready', 'ready', 'exit number', 'gone'];
    const second = ['starting', 'restart', 'started', 'message ready', 'ready'];
    expect(events).toEqual([...first, 'pause false', ...second]);
    expect(supervisor.restarts).toBe(1);
    expect(supervisor.lastExit).toMatchObject({ code: 3 });
    await supervisor.stop(0);
    expect(supervisor.pid).toBeUndefined();
  });

  it('is not to blame where its end is excused', async () => {
    made(CRASH);
    start(true);
    await happened('pause true');
  });

  it('is sound after 30 s: its pauses begin anew', async () => {
    let nowMs = 0;
    run(`process.on('message', () => process.exit(1)); process.send({ type: 'ready' });`, {
      nowMs: () => nowMs,
    });
    await happened('ready');
    nowMs = 29_999;
    supervisor.send({});
    await happened('ready', 2);
    expect(count('reset')).toBe(0);
    nowMs = 59_999;
    supervisor.send({});
    await happened('reset');
  });

  it('that says why it cannot start is tried again, and its reason is known until one is ready', async () => {
    run(
      '',
      inTurn(`process.send({ type: 'failed', message: 'no model' }, () => process.exit(1));`),
    );
    expect([supervisor.startFailure, supervisor.problem]).toEqual([undefined, undefined]);
    await happened('start failed');
    expect([supervisor.startFailure, supervisor.problem]).toEqual(['no model', 'no model']);
    expect(supervisor.isStarting).toBe(false);
    await happened('started', 2);
    expect([supervisor.startFailure, supervisor.isStarting]).toEqual(['no model', true]);
    await happened('ready');
    expect([supervisor.startFailure, supervisor.problem]).toEqual([undefined, undefined]);
    expect([supervisor.isStarting, count('pause false')]).toEqual([false, 0]);
  });

  it('whose arguments cannot be found is one that ended', async () => {
    let tries = 0;
    const args = () =>
      tries++ === 0 ? Promise.reject(new Error('no port')) : Promise.resolve(['-e', READY]);
    run('', { args });
    await happened('pause false');
    expect(supervisor.problem).toBe('no port');
    expect([count('exit undefined'), count('start failed')]).toEqual([1, 0]);
    await happened('ready');
    expect([supervisor.restarts, supervisor.problem]).toEqual([0, undefined]);
  });

  it('that hangs is killed with a reason, and another follows', async () => {
    made(READY);
    supervisor.kill('not there');
    start();
    await happened('ready');
    supervisor.kill('hangs');
    await happened('ready', 2);
    expect(supervisor.lastExit).toMatchObject({ signal: 'SIGKILL', reason: 'hangs' });
  });

  it('that makes progress for ever is killed at the limit of a start, with what it waits for', async () => {
    run('setInterval(() => console.log(1), 5)', {
      ...{ startLimitMs: 200, unready: () => 'port 5 is in use' },
    });
    await happened('gone');
    expect(supervisor.lastExit?.reason).toBe(
      'not ready within 200 ms (workers.start_limit_ms): port 5 is in use',
    );
  });

  it.each([
    ['that takes work', READY],
    ['that ignores SIGTERM', DEAF],
  ])('%s is replaced at once by a restart, however often that is asked for', async (_, script) => {
    run(script);
    await happened('ready');
    supervisor.restart();
    supervisor.restart();
    await happened('ready', 2);
    expect([count('starting'), count('pause false'), supervisor.restarts]).toEqual([2, 0, 1]);
    expect(supervisor.lastExit).toBeUndefined();
  });

  it('is not waited for by a restart between two processes, and none comes before the start or after the end', async () => {
    made('', inTurn(CRASH), 600_000);
    supervisor.restart();
    expect(events).toEqual([]);
    start();
    supervisor.restart();
    await happened('pause false');
    supervisor.restart();
    await happened('ready', 2);
    expect(count('starting')).toBe(2);
    await supervisor.stop(0);
    const before = events.length;
    supervisor.restart();
    supervisor.ready();
    expect(events).toHaveLength(before);
  });

  it('starts in its turn, which ends when it is ready', async () => {
    run(READY, { turn: () => Promise.resolve(() => told('turn over')) });
    await happened('ready');
    expect(events.slice(-3)).toEqual(['message ready', 'turn over', 'ready']);
  });

  it('hears what it is sent, and its lines are logged', async () => {
    const change = options('');
    run(`console.log('hello'); process.on('message', message => process.send(message)); ${READY}`, {
      log: change.log,
    });
    supervisor.send({ type: 'lost' });
    await happened('line');
    await happened('ready');
    supervisor.send({ type: 'echo' });
    await happened('message echo');
    expect(change.log.recent.last(9).map(({ text }) => text)).toContain(
      'hello {"stream":"stdout"}',
    );
  });

  it('of a foreign program is ready when its supervisor says so, once', () => {
    run(SILENT, { foreign: true });
    expect(supervisor.isStarting).toBe(true);
    supervisor.ready();
    supervisor.ready();
    expect([count('ready'), supervisor.isStarting, supervisor.problem]).toEqual([
      ...[1, false, undefined],
    ]);
  });
});

import { afterEach, describe, expect, it } from '@jest/globals';
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

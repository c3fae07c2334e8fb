import { EventEmitter } from 'node:events';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { type WorkerSpec } from '../../platform/config/worker-spec.js';
import { InFlightCalls } from './in-flight-calls.js';
import { WorkerDrain } from './worker-drain.js';
import { WorkerState } from './worker-state.js';

Logger.overrideLogger(false);
const call = () => Object.assign(new EventEmitter(), { cancelled: false });

describe('WorkerDrain', () => {
  let state: WorkerState;
  let calls: InFlightCalls;
  let drain: WorkerDrain;
  beforeEach(() => {
    state = new WorkerState();
    state.ready();
    calls = new InFlightCalls(state);
    drain = new WorkerDrain(state, calls, { shutdownGraceMs: 60_000 } as WorkerSpec);
  });

  it('refuses new calls at once and resolves when the running ones have ended', async () => {
    let finish = (): void => undefined;
    const running = calls.run(
      { id: 'a' },
      call(),
      () => new Promise<string>(resolve => (finish = () => resolve('answer'))),
    );
    const drained = drain.drain();
    expect(state.phase).toBe('draining');
    finish();
    await drained;
    expect(await running).toBe('answer');
  });

  it('aborts what outlasts the grace as shutting_down', async () => {
    const running = calls.run(
      { id: 'a' },
      call(),
      signal =>
        new Promise((_, reject) =>
          signal.addEventListener('abort', () => reject(signal.reason as Error)),
        ),
    );
    const refused = expect(running).rejects.toMatchObject({ code: 'shutting_down' });
    await drain.drain(1);
    await refused;
  });

  it('is one drain however often it is asked for', () => {
    expect(drain.drain()).toBe(drain.drain(0));
  });
});

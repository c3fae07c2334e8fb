import { EventEmitter } from 'node:events';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { DomainError } from '../../core/errors/domain-error.js';
import { WAITING } from '../../core/request/device-progress.js';
import { InFlightCalls } from './in-flight-calls.js';
import { WorkerState } from './worker-state.js';

const call = () => Object.assign(new EventEmitter(), { cancelled: false });
/** Work that ends when it is aborted. */
const untilAborted = (signal: AbortSignal) =>
  new Promise<never>((_, reject) =>
    signal.addEventListener('abort', () => reject(signal.reason as Error)),
  );

let state: WorkerState;
let calls: InFlightCalls;
beforeEach(() => {
  state = new WorkerState();
  calls = new InFlightCalls(state);
  state.ready();
});

describe('InFlightCalls', () => {
  it('knows a call while it runs, and no longer', async () => {
    const running = calls.run({ id: 'a' }, call(), () => Promise.resolve(calls.size));
    expect(await running).toBe(1);
    expect([calls.size, calls.cancel('a', '')]).toEqual([0, false]);
  });

  it('refuses an id that is still running, and takes it again afterwards', async () => {
    const running = calls.run({ id: 'a' }, call(), untilAborted);
    await expect(calls.run({ id: 'a' }, call(), untilAborted)).rejects.toMatchObject({
      code: 'duplicate_request_id',
    });
    calls.cancel('a', 'client');
    await expect(running).rejects.toMatchObject({ code: 'request_cancelled' });
    expect(await calls.run({ id: 'a' }, call(), () => Promise.resolve('again'))).toBe('again');
  });

  it('acknowledges a second cancel while the work is still being let go', async () => {
    let letGo = (): void => undefined;
    const running = calls.run(
      { id: 'a' },
      call(),
      () => new Promise<void>(resolve => (letGo = resolve)),
    );
    expect([calls.cancel('a', 'client'), calls.cancel('a', 'client')]).toEqual([true, true]);
    letGo();
    await running;
  });

  it('names the reason of a cancel', async () => {
    const running = calls.run({ id: 'a' }, call(), untilAborted);
    calls.cancel('a', 'deadline');
    await expect(running).rejects.toThrow('(deadline)');
  });

  it('leaves an attempt alone that a Cancel does not name, and does not know it', async () => {
    const running = calls.run({ id: 'a', attempt: 'second' }, call(), untilAborted);
    expect([calls.cancel('a', 'client', 'first'), await calls.progress('a', 'first')]).toEqual([
      false,
      undefined,
    ]);
    expect(calls.cancel('a', 'client', 'second')).toBe(true);
    await expect(running).rejects.toMatchObject({ code: 'request_cancelled' });
  });

  it('says when the device computes a call, and which of its engine calls ends it first', async () => {
    const running = calls.run({ id: 'a' }, call(), untilAborted);
    expect(await calls.progress('a')).toEqual(WAITING);
    const uses = [30, 10].map(limitMs => ({ onDevice: true, deviceMs: 5, limitMs }));
    const ends = uses.map(use => calls.onDevice(['a', 'unknown'], () => use));
    expect(await calls.progress('a')).toEqual(uses[1]);
    ends.forEach(end => end());
    expect(await calls.progress('a')).toEqual(WAITING);
    calls.cancel('a', '');
    await running.catch(() => undefined);
    expect(await calls.progress('a')).toBeUndefined();
  });

  it('aborts every call at once with one error, and is idle when they ended', async () => {
    const running = Promise.allSettled(
      ['a', 'b'].map(id => calls.run({ id }, call(), untilAborted)),
    );
    const idle = calls.idle();
    calls.abortAll(new DomainError('shutting_down', 'bye'));
    await idle;
    expect((await running).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(calls.size).toBe(0);
  });

  it('is idle without calls', async () => {
    expect(await calls.idle()).toBeUndefined();
  });

  it('refuses calls before the engine is loaded and while draining', async () => {
    const early = new InFlightCalls(new WorkerState());
    await expect(early.run({ id: 'a' }, call(), untilAborted)).rejects.toMatchObject({
      code: 'no_worker',
    });
    state.draining();
    await expect(calls.run({ id: 'a' }, call(), untilAborted)).rejects.toMatchObject({
      code: 'shutting_down',
    });
  });
});

describe('InFlightCalls, the signal of a call', () => {
  const signalOf = (own: ReturnType<typeof call>) =>
    calls.run({ id: 'a' }, own, signal => Promise.resolve(signal));

  it('aborts when the caller leaves', async () => {
    const own = call();
    const running = calls.run({ id: 'a' }, own, untilAborted);
    own.emit('cancelled');
    await expect(running).rejects.toMatchObject({ code: 'request_cancelled' });
  });

  it('is aborted from the start when the caller had left before', async () => {
    const left = Object.assign(call(), { cancelled: true });
    expect((await signalOf(left)).aborted).toBe(true);
  });

  it('keeps the first cause when several come', async () => {
    const own = call();
    const signal = signalOf(own);
    calls.abortAll(new DomainError('shutting_down', 'first'));
    own.emit('cancelled');
    expect((await signal).reason).toMatchObject({ code: 'shutting_down' });
  });

  it('leaves no listener on the call when it has ended', async () => {
    const own = call();
    await signalOf(own);
    expect(own.listenerCount('cancelled')).toBe(0);
  });
});

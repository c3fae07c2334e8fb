import { describe, expect, it } from '@jest/globals';
import { VirtualTimeScheduler } from 'rxjs';
import { DomainError } from '../../core/errors/domain-error.js';
import { RequestPriority } from '../../core/request/request-priority.js';
import { BatchJournal } from './batch-journal.js';
import { type Computed, MicroBatcher } from './micro-batcher.js';

const { REALTIME, BATCH } = RequestPriority;
const settled = () => new Promise(resolve => setImmediate(resolve));

interface Submission {
  readonly priority?: RequestPriority;
  readonly group?: { readonly id: string; readonly size: number };
  readonly abort?: AbortController;
}

/**
 * A batcher whose preparations and engine calls are gates, in virtual time.
 * Items are names.
 */
function harness({ maxBatch = 8, maxConcurrent = 1, prepParallel = 16, callMs = 0 } = {}) {
  const time = new VirtualTimeScheduler();
  const calls: string[][] = [];
  const held = new Set<string>();
  const prepGates = new Map<string, () => void>();
  const deviceGates: (() => void)[] = [];
  const batcher = new MicroBatcher<string, string, string>(
    {
      prepare: id =>
        held.has(id)
          ? new Promise(resolve => prepGates.set(id, () => resolve(id)))
          : Promise.resolve(id),
      compute: group => {
        calls.push([...group]);
        const outcome = (name: string) =>
          name.startsWith('bad')
            ? { ok: false as const, error: new Error(`${name} failed`) }
            : { ok: true as const, value: name.toUpperCase() };
        return new Promise(resolve => deviceGates.push(() => resolve(group.map(outcome))));
      },
      engine: { info: { maxBatch, maxConcurrent, callMs } },
      spec: { prepParallel },
      clock: { nowMs: () => time.frame },
      journal: new BatchJournal({ info: () => undefined }),
      calls: { onDevice: () => () => undefined },
    },
    time,
  );
  return {
    calls,
    async send(
      id: string,
      { priority = BATCH, group = { id, size: 1 }, abort = new AbortController() }: Submission = {},
    ) {
      const reply = batcher.submit({
        call: { requestId: id, priority, group },
        input: id,
        signal: abort.signal,
      });
      const outcome = reply.then(
        (computed): Computed<string> | DomainError => computed,
        (error: DomainError) => error,
      );
      await settled();
      return { outcome };
    },
    holdPreparation: (...ids: string[]) => ids.forEach(id => held.add(id)),
    async prepared(id: string) {
      prepGates.get(id)?.();
      await settled();
    },
    async deviceReturns() {
      deviceGates.shift()?.();
      await settled();
    },
    async pass(ms: number) {
      time.maxFrames = time.frame + ms;
      time.flush();
      time.frame = time.maxFrames;
      await settled();
    },
  };
}

const group = { id: 'g', size: 3 };

describe('MicroBatcher', () => {
  it('sends a lone item to an idle device at once', async () => {
    const { send, calls } = harness();
    await send('a');
    expect(calls).toEqual([['a']]);
  });

  it('makes one engine call of 8 for uploads that came as groups of 4, 1 and 3, on a slow device', async () => {
    const { send, calls, holdPreparation, prepared } = harness({ maxConcurrent: 2, callMs: 4000 });
    const ids = ['a1', 'a2', 'a3', 'a4', 'b', 'c1', 'c2', 'c3'];
    holdPreparation(...ids);
    for (const id of ids)
      await send(id, { group: { id: id[0]!, size: { a: 4, b: 1, c: 3 }[id[0]!]! } });
    for (const id of ids) await prepared(id);
    expect(calls).toEqual([ids]);
  });

  it('waits for other groups in preparation at most a quarter of a slow engine call', async () => {
    const { send, calls, holdPreparation, pass } = harness({ callMs: 4000 });
    holdPreparation('slow');
    await send('slow');
    await send('a');
    await pass(999);
    expect(calls).toEqual([]);
    await pass(1);
    expect(calls).toEqual([['a']]);
  });

  it('makes one engine call for the 3 members of a group that arrive one after another', async () => {
    const { send, calls, deviceReturns } = harness();
    const a = await send('a', { group });
    await send('b', { group });
    expect(calls).toEqual([]);
    await send('c', { group });
    expect(calls).toEqual([['a', 'b', 'c']]);
    await deviceReturns();
    expect(await a.outcome).toMatchObject({ value: 'A', execution: { batchSize: 3 } });
  });

  it('waits on an idle device for a member that is being prepared', async () => {
    const { send, calls, holdPreparation, prepared } = harness();
    holdPreparation('b');
    await send('a', { group: { id: 'g', size: 2 } });
    await send('b', { group: { id: 'g', size: 2 } });
    expect(calls).toEqual([]);
    await prepared('b');
    expect(calls).toEqual([['a', 'b']]);
  });

  it('stops waiting for a member that never comes after the limit', async () => {
    const { send, calls, pass } = harness();
    await send('a', { group });
    await pass(249);
    expect(calls).toEqual([]);
    await pass(1);
    expect(calls).toEqual([['a']]);
  });

  it('stops waiting when the missing member fails or is cancelled', async () => {
    const { send, calls, holdPreparation, prepared } = harness();
    const abort = new AbortController();
    holdPreparation('b');
    await send('a', { group: { id: 'g', size: 2 } });
    await send('b', { group: { id: 'g', size: 2 }, abort });
    abort.abort();
    await prepared('b');
    expect(calls).toEqual([['a']]);
  });

  it('never waits for a group when the device becomes free: takes what is READY', async () => {
    const { send, calls, holdPreparation, deviceReturns } = harness();
    holdPreparation('c');
    await send('first');
    for (const id of ['a', 'b', 'c']) await send(id, { group });
    expect(calls).toEqual([['first']]);
    await deviceReturns();
    expect(calls).toEqual([['first'], ['a', 'b']]);
  });

  it('takes at most maxBatch, REALTIME first, then arrival', async () => {
    const { send, calls, deviceReturns } = harness({ maxBatch: 3 });
    await send('first');
    for (const id of ['a', 'b', 'c']) await send(id);
    await send('now', { priority: REALTIME });
    await deviceReturns();
    expect(calls.at(-1)).toEqual(['now', 'a', 'b']);
    await deviceReturns();
    expect(calls.at(-1)).toEqual(['c']);
  });

  it('runs maxConcurrent engine calls at the same time', async () => {
    const { send, calls } = harness({ maxConcurrent: 2 });
    for (const id of ['a', 'b', 'c']) await send(id);
    expect(calls).toEqual([['a'], ['b']]);
  });

  it('prepares the next items while the device is busy', async () => {
    const { send, holdPreparation, prepared, calls, deviceReturns } = harness();
    await send('a');
    holdPreparation('b');
    await send('b');
    await prepared('b');
    await deviceReturns();
    expect(calls).toEqual([['a'], ['b']]);
  });

  it('lets a failure touch its own item only', async () => {
    const { send, deviceReturns } = harness();
    const good = await send('a', { group: { id: 'g', size: 2 } });
    const bad = await send('bad', { group: { id: 'g', size: 2 } });
    await deviceReturns();
    expect(await good.outcome).toMatchObject({ value: 'A' });
    expect(await bad.outcome).toMatchObject({ code: 'engine_failed', message: 'bad failed' });
  });

  it('lets a cancelled READY item go at once, and keeps it from the device', async () => {
    const { send, calls, deviceReturns } = harness();
    const abort = new AbortController();
    await send('a');
    const cancelled = await send('b', { abort });
    abort.abort(new DomainError('request_cancelled', 'client'));
    expect(await cancelled.outcome).toMatchObject({ code: 'request_cancelled', message: 'client' });
    await deviceReturns();
    expect(calls).toEqual([['a']]);
  });

  it('lets an item cancelled on the device go when the engine call returns, not before', async () => {
    const { send, deviceReturns } = harness();
    const abort = new AbortController();
    const { outcome } = await send('a', { abort });
    let ended = false;
    void outcome.then(() => (ended = true));
    abort.abort();
    await settled();
    expect(ended).toBe(false);
    await deviceReturns();
    expect(await outcome).toMatchObject({ code: 'request_cancelled' });
  });

  it('tells how long each item was prepared, waited and computed', async () => {
    const { send, pass, deviceReturns } = harness();
    await send('a');
    const b = await send('b');
    await pass(20);
    await deviceReturns();
    await pass(30);
    await deviceReturns();
    expect(await b.outcome).toMatchObject({
      execution: { prepMs: 0, readyWaitMs: 20, deviceMs: 30, batchSize: 1 },
    });
  });
});

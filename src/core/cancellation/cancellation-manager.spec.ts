import { beforeEach, describe, expect, it } from '@jest/globals';
import { RequestPriority } from '../request/request-priority.js';
import { CancellationManager } from './cancellation-manager.js';
import { aKey } from '../../../test/support/requests.js';

const { REALTIME, BATCH } = RequestPriority;
let manager: CancellationManager;

beforeEach(() => {
  manager = new CancellationManager();
  manager.register(aKey('a'), { model: 'm1', priority: BATCH });
});

describe('CancellationManager, one request', () => {
  it('finds a queued request', () => {
    expect(manager.cancel(aKey('a'))).toEqual({ found: true, stage: 'queued' });
  });

  it('finds a request in flight and names its worker', () => {
    manager.inFlight(aKey('a'), 'w1');
    expect(manager.cancel(aKey('a'))).toEqual({ found: true, stage: 'in_flight', workerId: 'w1' });
  });

  it('finds nothing the second time, whatever the stage', () => {
    manager.inFlight(aKey('a'), 'w1');
    manager.cancel(aKey('a'));
    expect([manager.cancel(aKey('a')), manager.cancel(aKey('a'))]).toEqual([{ found: false }, { found: false }]);
  });

  it('finds nothing for an id it never saw', () => {
    expect(manager.cancel(aKey('unknown'))).toEqual({ found: false });
  });

  it('finds nothing after completion', () => {
    manager.inFlight(aKey('a'), 'w1');
    manager.unregister(aKey('a'));
    expect(manager.cancel(aKey('a'))).toEqual({ found: false });
  });

  it('finds a re-queued request in the queue again', () => {
    manager.inFlight(aKey('a'), 'w1');
    manager.requeued(aKey('a'));
    expect(manager.cancel(aKey('a'))).toEqual({ found: true, stage: 'queued' });
  });

  it('names the second worker after a retry', () => {
    manager.inFlight(aKey('a'), 'w1');
    manager.requeued(aKey('a'));
    manager.inFlight(aKey('a'), 'w2');
    expect(manager.cancel(aKey('a'))).toMatchObject({ workerId: 'w2' });
  });

  it('does not track a request again that was cancelled before it was sent or re-queued', () => {
    manager.cancel(aKey('a'));
    manager.inFlight(aKey('a'), 'w1');
    manager.requeued(aKey('a'));
    expect([manager.size, manager.cancel(aKey('a'))]).toEqual([0, { found: false }]);
  });

  it('unregisters a cancelled or unknown request as a no-op', () => {
    manager.cancel(aKey('a'));
    manager.unregister(aKey('a'));
    manager.unregister(aKey('unknown'));
    expect(manager.size).toBe(0);
  });

  it('refuses an id that is still tracked, and takes it again afterwards', () => {
    const register = () => manager.register(aKey('a'), { model: 'm2', priority: REALTIME });
    expect(register).toThrow(expect.objectContaining({ code: 'duplicate_request_id' }));
    expect(manager.keys({ model: 'm1' })).toEqual(['a']);
    manager.cancel(aKey('a'));
    register();
    expect(manager.keys({ model: 'm2' })).toEqual(['a']);
  });
});

describe('CancellationManager, many requests', () => {
  beforeEach(() => {
    manager.register(aKey('b'), { model: 'm1', priority: REALTIME });
    manager.register(aKey('c'), { model: 'm2', priority: BATCH });
    manager.inFlight(aKey('c'), 'w2');
  });

  it('counts what can still be cancelled', () => {
    expect(manager.size).toBe(3);
    manager.cancel(aKey('b'));
    manager.unregister(aKey('c'));
    expect(manager.size).toBe(1);
  });

  it('lists all ids, oldest first', () => {
    expect(manager.keys()).toEqual(['a', 'b', 'c']);
  });

  it.each([
    [{ model: 'm1' }, ['a', 'b']],
    [{ priority: BATCH }, ['a', 'c']],
    [{ priority: REALTIME }, ['b']],
    [{ stage: 'queued' as const }, ['a', 'b']],
    [{ stage: 'in_flight' as const }, ['c']],
    [{ model: 'm1', priority: BATCH, stage: 'queued' as const }, ['a']],
    [{ model: 'm2', stage: 'queued' as const }, []],
  ])('lists by %j', (filter, expected) => {
    expect(manager.keys(filter)).toEqual(expected);
  });

  it('cancels each of 1,000 once, in any order', () => {
    const ids = Array.from({ length: 1_000 }, (_, index) => `r${index}`);
    ids.forEach(id => manager.register(aKey(id), { model: 'm3', priority: BATCH }));
    const found = [...ids.reverse(), ...ids].filter(id => manager.cancel(aKey(id)).found);
    expect([found.length, manager.size]).toEqual([1_000, 3]);
  });
});

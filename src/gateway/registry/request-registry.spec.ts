import { describe, expect, it } from '@jest/globals';
import { aRegistry, LEASE, opened } from '../../../test/support/records.js';
import { aKey } from '../../../test/support/requests.js';
import { DomainError } from '../../core/errors/domain-error.js';

const GONE = {
  status: 'cancelled',
  error: new DomainError('request_cancelled', 'gone'),
} as const;

describe('RequestRegistry', () => {
  it('lists the latest first and finds by id', () => {
    const registry = aRegistry();
    for (const id of ['a', 'b']) registry.settle(opened(registry, id), GONE);
    expect(registry.allEnded().map(({ id }) => id)).toEqual(['b', 'a']);
    expect(registry.ended(aKey('a'))).toMatchObject({
      id: 'a',
      state: 'cancelled',
      code: 'request_cancelled',
    });
  });

  it('settles a request once, whatever comes after', () => {
    const registry = aRegistry();
    const record = opened(registry, 'a');
    expect([registry.settle(record, GONE), registry.settle(record, GONE)]).toEqual([true, false]);
    expect([registry.allEnded().length, registry.size]).toEqual([1, 0]);
  });

  it('is idle when the last of its requests has ended', async () => {
    const registry = aRegistry();
    const records = ['a', 'b'].map(id => opened(registry, id));
    let isIdle = false;
    const idle = registry.idle().then(() => (isIdle = true));
    registry.settle(records[0]!, GONE);
    await new Promise(setImmediate);
    expect(isIdle).toBe(false);
    registry.settle(records[1]!, GONE);
    await new Promise(setImmediate);
    expect(isIdle).toBe(true);
    await idle;
  });

  it('keeps the newest thousand that have ended, and all that run', () => {
    const registry = aRegistry();
    const running = opened(registry, 'running');
    for (let n = 0; n <= 1000; n += 1) registry.settle(opened(registry, `r${n}`), GONE);
    expect([registry.allEnded().length, registry.ended(aKey('r0')), registry.live()]).toEqual([
      1000,
      undefined,
      [running],
    ]);
  });

  it('remembers the later of two requests that used the same id', () => {
    const registry = aRegistry();
    registry.settle(opened(registry, 'a'), GONE);
    registry.settle(opened(registry, 'b'), GONE);
    const again = opened(registry, 'a');
    registry.leased(again, LEASE, false);
    registry.settle(again, GONE);
    expect(registry.allEnded().map(({ id, attempts }) => [id, attempts])).toEqual([
      ['a', 1],
      ['b', 0],
    ]);
  });

  it('takes an id again when the last call for it has ended, not when its caller has the answer', () => {
    const registry = aRegistry();
    const record = opened(registry, 'a');
    record.called(0);
    record.called(0);
    registry.settle(record, GONE);
    expect([registry.record(record.key), registry.get(record.key), registry.size]).toEqual([
      record,
      undefined,
      0,
    ]);
    registry.callEnded(record);
    expect(registry.record(record.key)).toBe(record);
    registry.callEnded(record);
    expect(registry.record(record.key)).toBeUndefined();
  });
});

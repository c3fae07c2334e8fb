import { beforeEach, describe, expect, it } from '@jest/globals';
import { SLOT_LEASE_MS } from '../../core/limits/limit-store.port.js';
import { LocalLimitStore } from './local-limit-store.js';

const DAY_MS = 86_400_000;
const NONE = {
  requestsPerDay: 0,
  requestsPerMinute: 0,
  tokensPerMinute: 0,
  audioSecondsPerMinute: 0,
  concurrentRequests: 0,
};
type Limits = Partial<typeof NONE>;

describe('limits of one gateway', () => {
  let nowMs: number;
  let store: LocalLimitStore;
  let tickets: number;

  beforeEach(() => {
    [nowMs, tickets] = [10 * DAY_MS, 0];
    store = new LocalLimitStore(() => nowMs, 3);
  });

  const of = (limits: Limits, subject = 's', ticket = `t${(tickets += 1)}`) => ({
    subject,
    ticket,
    limits: { ...NONE, ...limits },
  });
  /** The limit that refuses one more request. */
  const refusal = async (limits: Limits, subject?: string) =>
    (await store.admit(of(limits, subject))).refusal?.limit;

  it('count requests of a day, and begin anew with the next', async () => {
    const limits = { requestsPerDay: 2 };
    expect([await refusal(limits), await refusal(limits), await refusal(limits)]).toEqual([
      undefined,
      undefined,
      'requestsPerDay',
    ]);
    nowMs += DAY_MS;
    expect([await refusal(limits), await refusal(limits), await refusal(limits)]).toEqual([
      undefined,
      undefined,
      'requestsPerDay',
    ]);
  });

  it('count a request once that was refused for something else', async () => {
    await store.admit(of({ concurrentRequests: 1, requestsPerDay: 2 }));
    expect(await refusal({ concurrentRequests: 1, requestsPerDay: 2 })).toBe('concurrentRequests');
    expect(await refusal({ requestsPerDay: 2 })).toBeUndefined();
  });

  it.each([
    [{ tokensPerMinute: 100 }, { tokens: 100, audioSeconds: 9 }, 'tokensPerMinute'],
    [{ tokensPerMinute: 100 }, { tokens: 99, audioSeconds: 0 }, undefined],
    [{ audioSecondsPerMinute: 5 }, { tokens: 9, audioSeconds: 5 }, 'audioSecondsPerMinute'],
    [{ audioSecondsPerMinute: 5 }, { tokens: 9, audioSeconds: 0 }, undefined],
    [{}, { tokens: 1e9, audioSeconds: 1e9 }, undefined],
  ])('of %j after %j refuse by %s', async (limits, spent, limit) => {
    await store.charge(of(limits), spent);
    expect(await refusal(limits)).toBe(limit);
  });

  it('of requests in a minute are told with what is left', async () => {
    const { status } = await store.admit(of({ requestsPerMinute: 60 }));
    expect(status.requests).toEqual({ limit: 60, remaining: 59, resetMs: 1000 });
  });

  it('keep the place of a request until it is released, or its lease is over', async () => {
    const limits = { concurrentRequests: 1 };
    const one = of(limits);
    await store.admit(one);
    expect(await refusal(limits)).toBe('concurrentRequests');
    await store.release(one);
    await store.release(of(limits, 'unknown'));
    const two = of(limits);
    expect((await store.admit(two)).refusal).toBeUndefined();
    nowMs += SLOT_LEASE_MS - 1;
    expect(await refusal(limits)).toBe('concurrentRequests');
    await store.renew([two, one, of(limits, 'unknown')]);
    nowMs += SLOT_LEASE_MS - 1;
    expect(await refusal(limits)).toBe('concurrentRequests');
    nowMs += 1;
    expect(await refusal(limits)).toBeUndefined();
  });

  it('forget accounts without debts, and the oldest when there are too many', async () => {
    await store.charge(of({ tokensPerMinute: 60 }, 'debtor'), { tokens: 2, audioSeconds: 0 });
    const runs = of({}, 'runs');
    await store.admit(runs);
    expect(store.size).toBe(2);
    nowMs += DAY_MS;
    await store.admit(of({}, 'new'));
    expect(store.size).toBe(2);
    for (const subject of ['a', 'b', 'c', 'd'])
      await store.admit(of({ requestsPerDay: 1 }, subject));
    expect(store.size).toBe(3);
    expect([
      await refusal({ requestsPerDay: 1 }, 'd'),
      await refusal({ requestsPerDay: 1 }, 'a'),
    ]).toEqual(['requestsPerDay', undefined]);
  });

  it.each([
    ['that owes requests', { requestsPerMinute: 1 }, 2],
    ['that owes tokens', { tokensPerMinute: 1 }, 2],
    ['that owes seconds', { audioSecondsPerMinute: 1 }, 2],
    ['that owes nothing', {}, 1],
  ])('keep the account of a subject %s', async (_, limits, size) => {
    nowMs = 11 * DAY_MS - 1;
    const one = of(limits, 'one');
    await store.admit(one);
    await store.release(one);
    await store.charge(one, { tokens: 1, audioSeconds: 1 });
    nowMs += 1;
    await store.charge(of({}, 'two'), { tokens: 0, audioSeconds: 0 });
    expect(store.size).toBe(size);
  });

  it('keep the account of a subject that has a place', async () => {
    nowMs = 11 * DAY_MS - 1;
    await store.admit(of({}, 'one'));
    nowMs += 1;
    await store.admit(of({}, 'two'));
    expect(store.size).toBe(2);
  });

  it('are by the clock of this machine, and of many subjects', async () => {
    const plain = new LocalLimitStore();
    await plain.admit(of({ requestsPerMinute: 1 }));
    expect((await plain.admit(of({ requestsPerMinute: 1 }))).refusal?.limit).toBe(
      'requestsPerMinute',
    );
    expect(plain.size).toBe(1);
  });
});

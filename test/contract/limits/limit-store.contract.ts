import { randomUUID } from 'node:crypto';
import { expect, it } from '@jest/globals';
import { type Limits } from '../../../src/core/limits/limit-rules.js';
import {
  type LimitAdmission,
  type LimitStore,
  SLOT_LEASE_MS,
} from '../../../src/core/limits/limit-store.port.js';
import { NO_LIMITS } from '../../support/limits.js';

const DAY_MS = 86_400_000;

export interface LimitStoreRig {
  /** With a clock that stands until it is moved. */
  readonly store: LimitStore;
  move(ms: number): void;
}

/** What every store of limits does, wherever it keeps its accounts. */
export function limitStoreContract(open: () => LimitStoreRig): void {
  const somebody = (limits: Partial<Limits>) => {
    const { store, move } = open();
    const subject = randomUUID();
    const entrance = (): LimitAdmission => ({
      subject,
      ticket: randomUUID(),
      limits: { ...NO_LIMITS, ...limits },
    });
    return { store, move, entrance, enter: () => store.admit(entrance()) };
  };

  it('lets 3 of a limit of 3 a minute in, tells what is left, and says when the fourth may come', async () => {
    const { enter, move } = somebody({ requestsPerMinute: 3 });
    const entries = [await enter(), await enter(), await enter(), await enter()];
    expect(entries.map(({ status: standing }) => standing.requests?.remaining)).toEqual([
      2, 1, 0, 0,
    ]);
    expect(entries.map(({ refusal }) => refusal?.limit)).toEqual([
      undefined,
      undefined,
      undefined,
      'requestsPerMinute',
    ]);
    expect(entries[3]?.refusal?.retryAfterMs).toBeCloseTo(20_000, 0);
    expect(entries[3]?.status.requests).toMatchObject({ limit: 3, remaining: 0 });
    move(20_000);
    expect((await enter()).refusal).toBeUndefined();
    expect((await enter()).refusal?.limit).toBe('requestsPerMinute');
  });

  it('lets exactly 50 of 80 that come at once in', async () => {
    const { enter } = somebody({ requestsPerMinute: 50 });
    const entries = await Promise.all(Array.from({ length: 80 }, enter));
    expect(entries.filter(({ refusal }) => !refusal)).toHaveLength(50);
  });

  it('charges tokens and seconds afterwards, into debt, and waits until they are paid', async () => {
    const { store, enter, entrance, move } = somebody({
      tokensPerMinute: 600,
      audioSecondsPerMinute: 60,
    });
    await store.charge(entrance(), { tokens: 900, audioSeconds: 30 });
    const { refusal, status: standing } = await enter();
    expect(refusal?.limit).toBe('tokensPerMinute');
    expect(refusal?.retryAfterMs).toBeCloseTo(30_100, 0);
    expect(standing).toMatchObject({
      tokens: { remaining: 0 },
      audioSeconds: { remaining: 30, limit: 60 },
    });
    move(30_100);
    expect((await enter()).refusal).toBeUndefined();
    await store.charge(entrance(), { tokens: 0, audioSeconds: 120 });
    expect((await enter()).refusal?.limit).toBe('audioSecondsPerMinute');
  });

  it('uses nothing up for a request that is refused', async () => {
    const { store, entrance } = somebody({ requestsPerMinute: 10, concurrentRequests: 1 });
    const first = entrance();
    await store.admit(first);
    for (let count = 0; count < 20; count++)
      expect((await store.admit(entrance())).refusal?.limit).toBe('concurrentRequests');
    await store.release(first);
    expect((await store.admit(entrance())).status.requests?.remaining).toBe(8);
  });

  it('gives a place back once, also when told twice, and by itself when nobody renews it', async () => {
    const { store, entrance, move } = somebody({ concurrentRequests: 2 });
    const [first, second] = [entrance(), entrance()];
    await store.admit(first);
    await store.admit(second);
    await store.release(first);
    await store.release(first);
    expect((await store.admit(entrance())).refusal).toBeUndefined();
    expect((await store.admit(entrance())).refusal?.limit).toBe('concurrentRequests');
    move(SLOT_LEASE_MS / 2);
    await store.renew([second]);
    move(SLOT_LEASE_MS / 2 + 1);
    const third = entrance();
    expect((await store.admit(third)).refusal).toBeUndefined();
    expect((await store.admit(entrance())).refusal?.limit).toBe('concurrentRequests');
    await store.release(second);
    await store.renew([second]);
    expect((await store.admit(entrance())).refusal).toBeUndefined();
  });

  it('counts days of UTC: a quota is new at midnight', async () => {
    const { enter, move } = somebody({ requestsPerDay: 2 });
    await enter();
    await enter();
    const { refusal } = await enter();
    expect(refusal).toMatchObject({ limit: 'requestsPerDay' });
    expect(refusal!.retryAfterMs).toBeLessThanOrEqual(DAY_MS);
    move(refusal!.retryAfterMs);
    expect((await enter()).refusal).toBeUndefined();
  });

  it('keeps one caller from using up what another has', async () => {
    const [mine, yours] = [somebody({ requestsPerMinute: 1 }), somebody({ requestsPerMinute: 1 })];
    await mine.enter();
    expect((await mine.enter()).refusal).toBeDefined();
    expect((await yours.enter()).refusal).toBeUndefined();
  });
}

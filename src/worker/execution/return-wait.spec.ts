import { describe, expect, it } from '@jest/globals';
import { type ReturnView, ReturnWait } from './return-wait.js';

const DEVICE_MS = 20;
const GROUP = 8;

const view = (change: Partial<ReturnView> = {}): ReturnView => ({
  ready: 4,
  maxBatch: GROUP,
  running: 0,
  draining: false,
  ...change,
});

interface Calls {
  readonly answered: number;
  readonly returns: number;
  readonly full?: boolean;
  /** From the answer until they are READY again. */
  readonly lastMs?: number;
}

/** Engine calls of 20 ms, one after another; of the callers answered, `returns` are READY again 3 ms later. */
class Device {
  readonly wait = new ReturnWait();
  nowMs = 0;

  calls(times: number, { answered, returns, full = false, lastMs = 3 }: Calls): this {
    for (let call = 0; call < times; call += 1) {
      this.ends(answered, full);
      for (let item = 0; item < returns; item += 1) this.wait.ready(this.nowMs + lastMs);
    }
    return this;
  }

  /** The latest call ends now. */
  ends(answered: number, full = false): this {
    this.nowMs += DEVICE_MS;
    this.wait.ended({ answered, deviceMs: DEVICE_MS, full }, this.nowMs);
    return this;
  }

  /** How long the device would wait from now on, in milliseconds. */
  waits(change: Partial<ReturnView> = {}, afterMs = 0): number {
    const decision = this.wait.decide(view(change), this.nowMs + afterMs);
    return decision.go ? 0 : Number((decision.wakeAtMs - this.nowMs - afterMs).toFixed(3));
  }
}

/** Callers that always came back, 4 by 4; 4 more have just been answered. */
const closedLoop = (): Device => new Device().calls(10, { answered: 4, returns: 4 }).ends(4);

describe('ReturnWait (D-24): for whom a free device waits', () => {
  it('waits half the usual device time for 4 callers that always come back', () => {
    expect(closedLoop().waits()).toBe(10);
  });

  it.each<[string, Partial<ReturnView>]>([
    ['a whole group is READY', { ready: 8 }],
    ['the worker drains', { draining: true }],
    ['the device takes one item at a time', { ready: 1, maxBatch: 1 }],
    ['another engine call runs', { running: 1 }],
  ])('goes at once: %s', (_reason, change) => {
    expect(closedLoop().waits(change)).toBe(0);
  });

  it('goes at once before anybody was answered, and when everybody is back', () => {
    expect(new Device().waits()).toBe(0);
    const device = closedLoop();
    for (let item = 0; item < 4; item += 1) device.wait.ready(device.nowMs + 3);
    expect(device.waits({ ready: 8, maxBatch: 16 }, 3)).toBe(0);
  });

  it('counts the wait from the answer, not from the decision', () => {
    const device = closedLoop();
    expect([0, 4, 9, 10, 15].map(afterMs => device.waits({}, afterMs))).toEqual([10, 6, 1, 0, 0]);
  });

  it.each([
    // the latest returns after, waited for
    [6, 10],
    [8, 12],
    [10, 15],
  ])('waits for 1.5 times what the latest caller usually takes, or half a call: %d ms, %d ms', (lastMs, waitMs) => {
    const device = new Device().calls(50, { answered: 4, returns: 4, lastMs }).ends(4);
    expect(device.waits()).toBeCloseTo(waitMs, 1);
  });

  it('waits at most 0.9 of a call, and finds out that callers need so long by waiting', () => {
    const device = new Device().calls(50, { answered: 4, returns: 4, lastMs: 10 });
    device.calls(50, { answered: 4, returns: 4, lastMs: 14 }).ends(4);
    expect(device.waits()).toBeCloseTo(18, 1);
  });

  it('takes later returns for independent callers unless it waits: they are told apart within half a call', () => {
    const device = new Device().calls(50, { answered: 4, returns: 4, lastMs: 11 });
    expect(device.wait.share).toBeLessThan(0.1);
    expect(device.ends(4).waits()).toBe(0);
  });

  it('follows the device time: half of 20 ms becomes half of 40 ms within 30 calls', () => {
    const device = closedLoop();
    for (let call = 0; call < 30; call += 1) {
      device.nowMs += 40;
      device.wait.ended({ answered: 4, deviceMs: 40, full: false }, device.nowMs);
      for (let item = 0; item < 4; item += 1) device.wait.ready(device.nowMs + 3);
    }
    device.nowMs += 40;
    device.wait.ended({ answered: 4, deviceMs: 40, full: false }, device.nowMs);
    expect(device.waits()).toBeGreaterThan(19.5);
  });
});

describe('ReturnWait: how long a wait is worth it', () => {
  // k READY, m answered: two calls that take turns need 2D, one call needs D and the wait.
  it.each([
    //k  m  D * (2 * min(k + m, 8) / (k + m) - 1), at most D / 2
    [1, 1, 10],
    [4, 4, 10],
    [2, 8, 10], //  12.0
    [3, 8, 9.091],
    [4, 8, 6.667],
    [5, 8, 4.615],
    [6, 8, 0], //    2.9, less than the usual 3
    [7, 8, 0], //    1.3
  ])('%d READY and %d answered: %d ms', (ready, answered, waitMs) => {
    const device = new Device().calls(20, { answered, returns: answered }).ends(answered);
    expect(device.waits({ ready })).toBe(waitMs);
  });
});

describe('ReturnWait: what it learns', () => {
  it('begins as among independent callers and waits after 2 calls of 4, 4 calls of 2, 6 calls of 1', () => {
    const callsUntilItWaits = (size: number): number => {
      const waitsAfter = (calls: number): boolean =>
        new Device().calls(calls, { answered: size, returns: size }).ends(size).waits({ ready: 1 }) > 0;
      return [1, 2, 3, 4, 5, 6, 7].findIndex(waitsAfter) + 1;
    };
    expect([4, 2, 1].map(callsUntilItWaits)).toEqual([2, 4, 6]);
  });

  it('stops after 2 waits in which nobody came, and counts on after that', () => {
    const device = closedLoop();
    const waited = [1, 2, 3, 4].map(() => {
      const ms = device.waits();
      device.ends(4);
      return ms;
    });
    expect(waited).toEqual([10, 10, 0, 0]);
  });

  it('recovers without waiting: after any number of calls without returns, 10 with returns', () => {
    const recovered = (calls: number): Device =>
      new Device().calls(1000, { answered: 4, returns: 0 }).calls(calls, { answered: 4, returns: 4 }).ends(4);
    expect([9, 10].map(calls => recovered(calls).waits())).toEqual([0, 10]);
  });

  it('takes an item that comes after half a device time for no return', () => {
    const device = closedLoop();
    for (let call = 0; call < 5; call += 1) {
      for (let item = 0; item < 4; item += 1) device.wait.ready(device.nowMs + 10.1);
      device.ends(4);
    }
    expect(device.wait.share).toBeLessThan(0.5);
  });

  it('learns nothing from a call that left a whole group READY: credits bring the next ones, not answers', () => {
    const device = new Device().calls(100, { answered: 8, returns: 8, full: true });
    expect(device.wait.share).toBe(0.5);
    expect(device.ends(8).waits()).toBe(0);
  });

  it('learns nothing from a call whose callers have all gone', () => {
    expect(new Device().calls(10_000, { answered: 0, returns: 0 }).wait.share).toBe(0.5);
  });
});

/** Independent callers at random, as many as `load` of what 8 per 20 ms can serve, on a device that takes what is READY. */
function independent(load: number, calls: number): { readonly meanShare: number; readonly waited: number } {
  const wait = new ReturnWait();
  let seed = 1;
  const random = (): number => (seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0) / 2 ** 32;
  const gapMs = (): number => (-Math.log(1 - random()) * DEVICE_MS) / (load * GROUP);
  let [nowMs, nextMs, ready, shares, waited] = [0, gapMs(), 0, 0, 0];
  const arriveUntil = (untilMs: number): void => {
    for (; nextMs <= untilMs; nextMs += gapMs()) {
      wait.ready(nextMs);
      ready += 1;
    }
  };
  for (let call = 0; call < calls; call += 1) {
    if (ready === 0) arriveUntil((nowMs = nextMs));
    if (!wait.decide(view({ ready }), nowMs).go) waited += 1;
    const answered = Math.min(ready, GROUP);
    ready -= answered;
    arriveUntil((nowMs += DEVICE_MS));
    wait.ended({ answered, deviceMs: DEVICE_MS, full: ready >= GROUP }, nowMs);
    shares += wait.share;
  }
  return { meanShare: shares / calls, waited: waited / calls };
}

describe('ReturnWait: independent callers', () => {
  // E[returned] <= rate * D/2, E[answered] = rate * (time between calls) >= rate * D: the quotient is 0.5 at most. Near
  // saturation only the calls that leave less than a group READY teach; they are smaller than the others, which makes
  // it 0.55.
  it.each([0.02, 0.1, 0.3, 0.5, 0.7, 0.9, 0.98])(
    'sees at most about half of a random stream at load %d come back, and waits before less than 1 call in 500',
    load => {
      const { meanShare, waited } = independent(load, 20_000);
      expect(meanShare).toBeLessThan(load < 0.8 ? 0.51 : 0.56);
      expect(waited).toBeLessThan(1 / 500);
    },
  );
});

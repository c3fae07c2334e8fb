import { describe, expect, it } from '@jest/globals';
import { type HarnessOptions } from '../support/dispatcher-harness.js';
import { MarbleHarness } from '../support/marble-harness.js';

/**
 * One worker of model `m`: 16 credits, 8 per engine call. Columns are milliseconds, small
 * letters BATCH, capitals REALTIME.
 */
function aHarness(options: HarnessOptions = {}): MarbleHarness {
  const harness = new MarbleHarness(options);
  harness.workers.add('m');
  return harness;
}

describe('Dispatcher windows, idle device', () => {
  it('sends a lone request after the quiet gap of 5 ms', () => {
    aHarness().expect({
      arrive: 'a--------------',
      sent: '  -----p---------',
      plans: { p: 'a quiet' },
    });
  });

  it('sends 8 at once when the eighth arrives, without waiting', () => {
    aHarness().expect({
      arrive: 'abcdefgh-------',
      sent: '  -------p-------',
      plans: { p: 'a b c d e f g h full' },
    });
  });

  it('restarts the quiet gap with every arrival', () => {
    aHarness().expect({
      arrive: 'a---b---c------',
      sent: '  -------------p-',
      plans: { p: 'a b c quiet' },
    });
  });

  it('sends 20 ms after the first, when the window is 20 ms and arrivals never pause', () => {
    aHarness({ windowMs: 20 }).expect({
      arrive: 'a---b---c---d---e----f---',
      sent: '  --------------------pq---',
      plans: { p: 'a b c d e window', q: 'f ahead' },
    });
  });

  it('sends 50 ms after the first by default', () => {
    aHarness({ quietGapMs: 30 }).expect({
      arrive: 'a 19ms b 19ms c 19ms -',
      sent: '  50ms p',
      plans: { p: 'a b c window' },
    });
  });

  it('sends REALTIME at once, and then the window is over: the device is busy', () => {
    aHarness().expect({
      arrive: 'ab-C-----------',
      sent: '  ---(pq)--------',
      plans: { p: 'C single', q: 'a b ahead' },
    });
  });

  it('sends each of several REALTIME requests at once', () => {
    aHarness().expect({
      arrive: 'AB-C-----------',
      sent: '  pq-r-----------',
      plans: { p: 'A single', q: 'B single', r: 'C single' },
    });
  });

  it('keeps one window per model: interleaved models make full groups', () => {
    const harness = aHarness({ maxSize: 3 });
    harness.workers.add('n');
    harness.expect({
      arrive: 'axbycz---------',
      models: { x: 'n', y: 'n', z: 'n' },
      sent: '  ----pq---------',
      plans: { p: 'a b c full', q: 'x y z full' },
    });
  });

  it('opens a new window for what comes after the device fell idle again', () => {
    aHarness().expect({
      arrive: 'a---------b-----',
      slots: ' -------1--------',
      sent: '  -----p---------q',
      plans: { p: 'a quiet', q: 'b quiet' },
    });
  });
});

describe('Dispatcher windows, busy device', () => {
  it('sends ahead at once what comes while the device computes', () => {
    aHarness().expect({
      arrive: 'a------b-c-----',
      sent: '  -----p-q-r-----',
      plans: { p: 'a quiet', q: 'b ahead', r: 'c ahead' },
    });
  });

  it('stops sending ahead when the credits are gone, and goes on when they return', () => {
    const harness = new MarbleHarness();
    harness.workers.add('m', { slots: 3, maxBatch: 2 });
    harness.expect({
      arrive: 'abcde----------',
      slots: ' --------1------',
      sent: '  -pq-----r------',
      plans: { p: 'a b full', q: 'c ahead', r: 'd e full' },
    });
  });
});

describe('Dispatcher windows, other policies', () => {
  it('window: waits its 20 ms also while the device is busy', () => {
    aHarness({ policy: 'window', windowMs: 20 }).expect({
      arrive: 'a-b---------------------c---------------------',
      sent: '  --------------------p-----------------------q-',
      plans: { p: 'a b window', q: 'c window' },
    });
  });

  it('none: sends everything at once', () => {
    aHarness({ policy: 'none' }).expect({
      arrive: 'a-b------------',
      sent: '  p-q------------',
      plans: { p: 'a window', q: 'b ahead' },
    });
  });

  it('closes at once while draining', () => {
    aHarness().expect({
      arrive: 'ab-------c-----',
      drain: ' ---d-----------',
      sent: '  ---p-----q-----',
      plans: { p: 'a b window', q: 'c ahead' },
    });
  });
});

describe('Dispatcher wakes', () => {
  it('wakes for aging when the window is longer than the aging', () => {
    aHarness({ agingMs: 10, windowMs: 100, quietGapMs: 100 }).expect({
      arrive: 'a--b-----------',
      sent: '  ----------(pq)-',
      plans: { p: 'a! single', q: 'b ahead' },
    });
  });

  it('wakes for the promotion and the queue deadline of 120 s while no worker is ready, and only for those', () => {
    const harness = new MarbleHarness();
    harness.expect({ arrive: 'a', sent: '  120s p', plans: { p: 'a expired' } });
    expect(harness.wakes).toBe(2);
  });

  it('wakes once for three requests that form one group, and never again', () => {
    const harness = aHarness();
    harness.expect({
      arrive: 'a-b-c---------------',
      sent: '  ---------p----------',
      plans: { p: 'a b c quiet' },
    });
    expect(harness.wakes).toBe(1);
  });
});

describe('Dispatcher re-queue', () => {
  it('sends a lost request again at once when its window has passed', () => {
    aHarness({ windowMs: 8 }).expect({
      arrive: 'a-b--------------',
      losses: '-----------x-----',
      sent: '  -------p---q-----',
      plans: { p: 'a b quiet', q: 'a b window' },
    });
  });

  it('gives lost requests their old order back, before those that came meanwhile', () => {
    const harness = new MarbleHarness();
    harness.workers.add('m', { slots: 2, maxBatch: 2 });
    harness.expect({
      arrive: 'ab-c-------------',
      losses: '-------x---------',
      slots: ' -----------1-----',
      sent: '  -p-----q---r-----',
      plans: { p: 'a b full', q: 'a b full', r: 'c quiet' },
    });
  });
});

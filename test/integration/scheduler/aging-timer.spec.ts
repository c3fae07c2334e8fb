import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { map } from 'rxjs';
import { TestScheduler } from 'rxjs/testing';
import { REALTIME, SchedulerHarness } from '../../support/scheduler-harness.js';

/**
 * The scheduler module with default settings in virtual time: aging after 30 s, queue
 * deadline after 120 s. No worker is up, so only the timer can wake the dispatch loop.
 */
describe('aging timer of the dispatch loop', () => {
  let time: TestScheduler;
  let harness: SchedulerHarness;

  beforeEach(async () => {
    time = new TestScheduler((actual, expected) => expect(actual).toEqual(expected));
    harness = await SchedulerHarness.start({ scheduler: time });
    // A turn of the event loop takes no virtual time.
    jest
      .spyOn(globalThis, 'setImmediate')
      .mockImplementation(turn => time.schedule(() => turn()) as never);
  });

  afterEach(async () => {
    jest.restoreAllMocks();
    await harness.stop();
  });

  /**
   * Small letters are BATCH, capitals REALTIME. Events are `accepted a`, `promoted
   * a`, `settled a`.
   */
  function expectEvents(
    picture: { arrive: string; events: string },
    names: Record<string, string>,
  ): void {
    time.run(({ hot, expectObservable }) => {
      hot(picture.arrive).subscribe(id => {
        void harness.submit(id, id === id.toUpperCase() ? REALTIME : {});
      });
      const events$ = harness.bus.events$.pipe(
        map(({ type, requestId }) => `${type} ${requestId}`),
      );
      expectObservable(events$).toBe(picture.events, names);
    });
  }

  it('promotes a BATCH request after 30 s, and wakes for nothing else until its queue deadline', () => {
    const before = harness.loop.turns;
    expectEvents(
      { arrive: 'b', events: 'a 29999ms p 89999ms e' },
      { a: 'accepted b', p: 'promoted b', e: 'settled b' },
    );
    expect(harness.loop.turns - before).toBe(3);
  });

  it('promotes each request at its own time', () => {
    expectEvents(
      {
        arrive: 'b 19999ms c',
        events: 'a 19999ms k 9999ms p 19999ms q 69999ms e 19999ms f',
      },
      {
        ...{ a: 'accepted b', k: 'accepted c', p: 'promoted b', q: 'promoted c' },
        ...{ e: 'settled b', f: 'settled c' },
      },
    );
  });

  it('wakes for REALTIME at its queue deadline only', () => {
    const before = harness.loop.turns;
    expectEvents({ arrive: 'R', events: 'a 119999ms e' }, { a: 'accepted R', e: 'settled R' });
    expect(harness.loop.turns - before).toBe(2);
  });

  it('does not wake for a request that was cancelled before it aged', () => {
    const before = harness.loop.turns;
    time.run(({ hot, expectObservable }) => {
      hot('b').subscribe(id => void harness.submit(id));
      hot('10s c').subscribe(() => void harness.cancellations.cancelMany({}, 'operator'));
      const events$ = harness.bus.events$.pipe(map(({ type }) => type));
      expectObservable(events$).toBe('a 9999ms (cs)', {
        a: 'accepted',
        c: 'cancel_requested',
        s: 'settled',
      });
    });
    expect(harness.loop.turns - before).toBe(1);
  });
});

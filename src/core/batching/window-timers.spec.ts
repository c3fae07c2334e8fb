import { beforeEach, describe, expect, it } from '@jest/globals';
import { map } from 'rxjs';
import { TestScheduler } from 'rxjs/testing';
import { WindowTimers } from './window-timers.js';

let scheduler: TestScheduler;
let timers: WindowTimers;

beforeEach(() => {
  scheduler = new TestScheduler((actual, expected) => expect(actual).toEqual(expected));
  timers = new WindowTimers({ nowMs: () => scheduler.now() }, scheduler);
});

describe('WindowTimers', () => {
  /**
   * Each letter of the first picture arms the timer for the instant of that name; `w` in the
   * second is a wake. One column is 1 ms.
   */
  it.each<[string, string, string, Record<string, number | undefined>]>([
    ['wakes once, at the instant', 'a-----------', '-----w------', { a: 5 }],
    [
      'wakes at a later instant in place of the one before: a quiet gap that moves on',
      'a-b-c-------',
      '---------w--',
      { a: 5, b: 7, c: 9 },
    ],
    [
      'wakes at an earlier instant in place of the one before',
      'a-b---------',
      '----w-------',
      { a: 9, b: 4 },
    ],
    [
      'wakes once when armed three times for the same instant',
      'aaa---------',
      '------w-----',
      { a: 6 },
    ],
    ['wakes at once for an instant that has passed', '----a-------', '----w-------', { a: 1 }],
    ['wakes never when disarmed', 'a--b--------', '------------', { a: 5, b: undefined }],
    [
      'wakes never for an instant that never comes',
      'a-----------',
      '------------',
      { a: Infinity },
    ],
    [
      'can be armed again after a wake, also for the same instant',
      'a-----a-b---',
      '---w--w---w-',
      { a: 3, b: 10 },
    ],
    [
      'rounds a fraction down: what is less than a tick away counts as come',
      'a-----------',
      '----w-------',
      { a: 4.2 },
    ],
    ['wakes 30 s later for aging', 'a---', '30s w', { a: 30_000 }],
    [
      'wakes early, after 24.8 days, for an instant beyond what a timer can hold',
      'a---',
      '2147483647ms w',
      { a: 1e15 },
    ],
  ])('%s', (_, orders, wakes, instants) => {
    scheduler.run(({ hot, expectObservable }) => {
      hot(orders, instants).subscribe(atMs => timers.wakeAt(atMs));
      expectObservable(timers.wakes$.pipe(map(() => 'w'))).toBe(wakes);
    });
  });

  it('wakes a whole tick later when armed again for an instant less than a tick away, so that nothing spins', () => {
    scheduler.run(({ expectObservable }) => {
      timers.wakeAt(4.2);
      timers.wakes$.subscribe(() => timers.wakeAt(scheduler.now() < 4.2 ? 4.2 : undefined));
      expectObservable(timers.wakes$.pipe(map(() => 'w'))).toBe('----ww------');
    });
  });

  it('stops, and leaves nothing armed', () => {
    scheduler.run(({ hot, expectObservable }) => {
      timers.wakeAt(5);
      hot('--s').subscribe(() => timers.stop());
      expectObservable(timers.wakes$).toBe('------------');
    });
  });

  it('is armed already when a wake asks for the next one', () => {
    scheduler.run(({ expectObservable }) => {
      timers.wakeAt(2);
      timers.wakes$.subscribe(() => {
        if (scheduler.now() < 8) timers.wakeAt(scheduler.now() + 3);
      });
      expectObservable(timers.wakes$.pipe(map(() => 'w'))).toBe('--w--w--w---');
    });
  });
});

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

/**
 * Each letter of `orders` arms the timer for the instant of that name; `w` is a wake. One
 * column is 1 ms.
 */
function expectWakes(
  picture: { orders: string; wakes: string },
  instants: Record<string, number | undefined>,
): void {
  scheduler.run(({ hot, expectObservable }) => {
    hot(picture.orders, instants).subscribe(atMs => timers.wakeAt(atMs));
    expectObservable(timers.wakes$.pipe(map(() => 'w'))).toBe(picture.wakes);
  });
}

describe('WindowTimers', () => {
  it('wakes once, at the instant', () => {
    expectWakes({ orders: 'a-----------', wakes: '-----w------' }, { a: 5 });
  });

  it('wakes at a later instant in place of the one before: a quiet gap that moves on', () => {
    expectWakes({ orders: 'a-b-c-------', wakes: '---------w--' }, { a: 5, b: 7, c: 9 });
  });

  it('wakes at an earlier instant in place of the one before', () => {
    expectWakes({ orders: 'a-b---------', wakes: '----w-------' }, { a: 9, b: 4 });
  });

  it('wakes once when armed three times for the same instant', () => {
    expectWakes({ orders: 'aaa---------', wakes: '------w-----' }, { a: 6 });
  });

  it('wakes at once for an instant that has passed', () => {
    expectWakes({ orders: '----a-------', wakes: '----w-------' }, { a: 1 });
  });

  it('wakes never when disarmed', () => {
    expectWakes({ orders: 'a--b--------', wakes: '------------' }, { a: 5, b: undefined });
  });

  it('wakes never for an instant that never comes', () => {
    expectWakes({ orders: 'a-----------', wakes: '------------' }, { a: Infinity });
  });

  it('can be armed again after a wake, also for the same instant', () => {
    expectWakes({ orders: 'a-----a-b---', wakes: '---w--w---w-' }, { a: 3, b: 10 });
  });

  it('rounds a fraction down: what is less than a tick away counts as come', () => {
    expectWakes({ orders: 'a-----------', wakes: '----w-------' }, { a: 4.2 });
  });

  it('wakes a whole tick later when armed again for an instant less than a tick away, so that nothing spins', () => {
    scheduler.run(({ expectObservable }) => {
      timers.wakeAt(4.2);
      timers.wakes$.subscribe(() => timers.wakeAt(scheduler.now() < 4.2 ? 4.2 : undefined));
      expectObservable(timers.wakes$.pipe(map(() => 'w'))).toBe('----ww------');
    });
  });

  it('wakes 30 s later for aging', () => {
    expectWakes({ orders: 'a---', wakes: '30s w' }, { a: 30_000 });
  });

  it('wakes early, after 24.8 days, for an instant beyond what a timer can hold', () => {
    expectWakes({ orders: 'a---', wakes: '2147483647ms w' }, { a: 1e15 });
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

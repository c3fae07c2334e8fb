import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { Subject } from 'rxjs';
import { type DispatchEvent } from '../../core/dispatch/dispatch-event.js';
import { DispatchEventBus } from '../../platform/events/events.module.js';
import { DispatchLoop } from './dispatch-loop.js';

Logger.overrideLogger(false);

describe('the dispatch loop', () => {
  let isEmpty: boolean;
  let due$: Subject<void>;
  let capacity$: Subject<string>;
  let events: DispatchEventBus;
  const plans = jest.fn<() => string[]>();
  const [run, stopTimer, closeWindows] = [jest.fn(), jest.fn(), jest.fn()];
  let loop: DispatchLoop;

  beforeEach(() => {
    for (const mock of [plans, run, stopTimer, closeWindows]) mock.mockReset();
    plans.mockReturnValue([]);
    [isEmpty, due$, capacity$, events] = [
      false,
      new Subject(),
      new Subject(),
      new DispatchEventBus(),
    ];
    const queue = {
      due$,
      plans,
      stopTimer,
      closeWindows,
      get isEmpty() {
        return isEmpty;
      },
    };
    const parts = [queue, { run }, events, { capacity$ }];
    loop = new DispatchLoop(...(parts as unknown as ConstructorParameters<typeof DispatchLoop>));
  });

  const turned = async (): Promise<number> => {
    await new Promise(setImmediate);
    return loop.turns;
  };
  const emit = (type: string): void => events.emit({ type } as DispatchEvent);

  it('runs all plans of a turn, the first at once', () => {
    plans.mockReturnValue(['one', 'two']);
    expect([loop.running, loop.turns]).toEqual([false, 0]);
    loop.start();
    loop.start();
    expect([loop.running, loop.turns, run.mock.calls]).toEqual([true, 1, [['one'], ['two']]]);
  });

  it.each<[string, () => void, number]>([
    ['capacity', () => capacity$.next('m'), 2],
    ['the timer', () => due$.next(), 2],
    ['a request', () => emit('accepted'), 2],
    ['one that is back', () => emit('requeued'), 2],
    ['another priority', () => emit('reprioritized'), 2],
    ['an end', () => emit('settled'), 1],
  ])('has a turn for %s, and one for many', async (_, wake, turns) => {
    wake();
    expect(await turned()).toBe(0);
    loop.start();
    for (let nth = 0; nth < 3; nth++) wake();
    expect(loop.turns).toBe(1);
    expect(await turned()).toBe(turns);
    wake();
    expect(await turned()).toBe(2 * turns - 1);
  });

  it('has none while nothing waits', async () => {
    loop.start();
    isEmpty = true;
    capacity$.next('m');
    expect(await turned()).toBe(1);
  });

  it('ends with its timer, and turns no more', async () => {
    loop.start();
    capacity$.next('m');
    loop.stop();
    loop.stop();
    capacity$.next('m');
    expect([await turned(), loop.running, stopTimer.mock.calls.length]).toEqual([1, false, 2]);
    loop.start();
    expect([await turned(), loop.running]).toEqual([2, true]);
  });

  it('sends what waits at once when windows are closed', async () => {
    loop.start();
    loop.flush();
    expect([await turned(), closeWindows.mock.calls.length]).toEqual([2, 1]);
  });

  it('goes on after a turn that failed', async () => {
    plans.mockImplementationOnce(() => {
      throw new Error('defect');
    });
    loop.start();
    capacity$.next('m');
    expect(await turned()).toBe(2);
  });
});

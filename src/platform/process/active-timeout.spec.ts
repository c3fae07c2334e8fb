import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { ActiveTimeout } from './active-timeout.js';

let ends: number;
let timeout: ActiveTimeout;

beforeEach(() => {
  jest.useFakeTimers({ now: 0 });
  ends = 0;
  timeout = new ActiveTimeout(
    2000,
    () => void ends++,
    () => Date.now(),
  );
});
afterEach(() => void jest.useRealTimers());

const pass = (ms: number) => jest.advanceTimersByTimeAsync(ms);

it('ends once when its time has passed, after what arrived until then was read', async () => {
  timeout.restart();
  await pass(1999);
  expect(ends).toBe(0);
  jest.advanceTimersByTime(1);
  expect(ends).toBe(0);
  await pass(1);
  expect(ends).toBe(1);
  await pass(10_000);
  expect([ends, jest.getTimerCount()]).toEqual([1, 0]);
});

it('begins anew, also when it was about to end and after its end', async () => {
  timeout.restart();
  await pass(1950);
  timeout.restart();
  expect(jest.getTimerCount()).toBe(1);
  await pass(1950);
  expect(ends).toBe(0);
  jest.advanceTimersByTime(50);
  timeout.restart();
  await pass(1990);
  expect(ends).toBe(0);
  await pass(20);
  expect(ends).toBe(1);
  timeout.restart();
  await pass(1990);
  expect(ends).toBe(1);
  await pass(20);
  expect(ends).toBe(2);
});

it('says how much was left when it is stopped, and does not end any more', async () => {
  expect(timeout.stop()).toBe(0);
  expect(timeout.stop()).toBe(0);
  timeout.restart();
  await pass(530);
  expect(timeout.stop()).toBe(1470);
  await pass(10_000);
  expect([ends, jest.getTimerCount()]).toEqual([0, 0]);
});

it('does not end when it is stopped as it is about to', async () => {
  timeout.restart();
  jest.advanceTimersByTime(2000);
  timeout.stop();
  await pass(10);
  expect(ends).toBe(0);
});

it('counts a pause of the process as a 20th of the limit', async () => {
  timeout.restart();
  jest.setSystemTime(60_000);
  await pass(100);
  expect(timeout.stop()).toBe(1900);
});

it('of a shorter rest waits no longer than that', async () => {
  timeout.restart();
  await pass(150);
  timeout.restart();
  // The timer that runs was set for 100 ms, half of which was before.
  await pass(50);
  await pass(1950);
  await pass(1);
  expect(ends).toBe(1);
});

it('of months is a timer like any other', async () => {
  const limitMs = 2 ** 36;
  const long = new ActiveTimeout(
    limitMs,
    () => void ends++,
    () => Date.now(),
  );
  long.restart();
  await pass(1000);
  expect(long.stop()).toBe(limitMs - 1000);
  expect(ends).toBe(0);
});

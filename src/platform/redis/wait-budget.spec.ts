import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { WaitBudget } from './wait-budget.js';

describe('WaitBudget', () => {
  let nowMs = 0;
  beforeEach(() => {
    nowMs = 0;
    jest.useFakeTimers();
  });
  afterEach(() => void jest.useRealTimers());

  const after = (ms: number) => new Promise<string>(resolve => setTimeout(() => resolve('answer'), ms));
  const pass = async (ms: number): Promise<void> => {
    nowMs += ms;
    await jest.advanceTimersByTimeAsync(ms);
  };
  const budget = () =>
    new WaitBudget(
      5000,
      () => new Error('overdue'),
      () => nowMs,
    );

  it('ends the wait for several slow answers when they together have taken as long as it allows', async () => {
    const wait = budget();
    for (let round = 0; round < 2; round += 1) {
      const answered = wait.spend(after(2000));
      await pass(2000);
      expect(await answered).toBe('answer');
    }
    const last = wait.spend(after(2000)).catch((error: Error) => error.message);
    await pass(999);
    expect(await Promise.race([last, Promise.resolve('waits')])).toBe('waits');
    await pass(1);
    expect(await last).toBe('overdue');
    expect(await wait.spend(Promise.resolve('at once'))).toBe('at once');
  });

  it('passes errors on, and counts no time between waits', async () => {
    const wait = budget();
    await expect(wait.spend(Promise.reject(new Error('refused')))).rejects.toThrow('refused');
    await pass(60_000);
    const answered = wait.spend(after(4999));
    await pass(4999);
    expect(await answered).toBe('answer');
    expect(jest.getTimerCount()).toBe(0);
  });
});

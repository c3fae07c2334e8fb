import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { WaitBudget } from './wait-budget.js';

describe('WaitBudget', () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  const after = (ms: number) =>
    new Promise<string>(resolve => setTimeout(() => resolve('answer'), ms));
  const pass = (ms: number) => jest.advanceTimersByTimeAsync(ms);
  const budget = () =>
    new WaitBudget(
      5000,
      () => new Error('overdue'),
      () => Date.now(),
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
    // The immediate that follows the last timer.
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

  it('of 100 ms reads an answer that arrived while the loop was held for 400 ms', async () => {
    jest.useRealTimers();
    const server = createServer(socket => socket.on('data', data => socket.write(data))).listen(
      0,
      '127.0.0.1',
    );
    await once(server, 'listening');
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    await once(socket, 'connect');
    const echo = async () => {
      socket.write('echo');
      return String((await once(socket, 'data'))[0]);
    };
    // Each way needs a turn of this loop: one turn more than the late timer has
    // is not enough.
    const answered = new WaitBudget(100, () => new Error('overdue')).spend(echo());
    for (const endMs = performance.now() + 400; performance.now() < endMs;);
    expect(await answered).toBe('echo');
    socket.destroy();
    server.close();
  });
});

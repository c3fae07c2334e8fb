import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { type DeviceProgress } from '../../core/request/device-progress.js';
import { DeviceTimeout } from './device-timeout.js';

describe('the inference limit of a call', () => {
  let asked = 0;
  let overdue = 0;

  beforeEach(() => {
    jest.useFakeTimers();
    [asked, overdue] = [0, 0];
  });
  afterEach(() => void jest.useRealTimers());

  /** @param answers to the questions, in order; an error: none */
  function limit(...answers: readonly (DeviceProgress | Error | undefined)[]): DeviceTimeout {
    return new DeviceTimeout({
      limitMs: 1000,
      ask: () => {
        const answer = answers[asked++];
        return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
      },
      onOverdue: () => (overdue += 1),
    });
  }

  const after = async (ms: number): Promise<readonly number[]> => {
    await jest.advanceTimersByTimeAsync(ms);
    return [asked, overdue];
  };

  const computed = (deviceMs: number, limitMs = 0): DeviceProgress => ({
    ...{ onDevice: true, deviceMs, limitMs },
  });

  it('is asked for when it could be over, and again for what is left', async () => {
    limit(computed(400), computed(1000));
    expect(await after(990)).toEqual([0, 0]);
    expect(await after(20)).toEqual([1, 0]);
    expect(await after(580)).toEqual([1, 0]);
    expect(await after(30)).toEqual([2, 1]);
    expect(await after(5000)).toEqual([2, 1]);
  });

  it('is that of all members of a group, and does not run while the call waits', async () => {
    limit({ onDevice: false, deviceMs: 0, limitMs: 0 }, computed(1000, 3000), computed(3000, 3000));
    expect(await after(1010)).toEqual([1, 0]);
    expect(await after(1010)).toEqual([2, 0]);
    expect(await after(2020)).toEqual([3, 1]);
  });

  it('is asked for again when there is no answer, and over when the worker has no such call', async () => {
    limit(new Error('unreachable'), undefined);
    expect(await after(1010)).toEqual([1, 0]);
    expect(await after(1010)).toEqual([2, 1]);
  });

  it('is asked for every 10 ms at most', async () => {
    limit(computed(999), computed(999), computed(1000));
    expect(await after(1010)).toEqual([1, 0]);
    expect(await after(8)).toEqual([1, 0]);
    expect(await after(4)).toEqual([2, 0]);
  });

  it('reports nothing once it is stopped, also while it asks', async () => {
    limit(undefined).stop();
    expect(await after(5000)).toEqual([0, 0]);
    let answer: (progress: undefined) => void = () => undefined;
    const asking = new DeviceTimeout({
      limitMs: 10,
      ask: () => new Promise<undefined>(resolve => (answer = resolve)),
      onOverdue: () => (overdue += 1),
    });
    await after(20);
    asking.stop();
    answer(undefined);
    expect(await after(100)).toEqual([0, 0]);
  });
});

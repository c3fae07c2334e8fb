import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import { modelSpec } from '../../../test/support/pool-harness.js';
import { DevicePlace, onDevice } from './device-place.js';

describe('the place of a model on a device', () => {
  let nowMs: number;
  const [onChange, onRefused] = [jest.fn(), jest.fn()];
  let place: DevicePlace;

  beforeEach(() => {
    nowMs = 1000;
    for (const mock of [onChange, onRefused]) mock.mockReset();
    place = new DevicePlace({ nowMs: () => nowMs }, { onChange, onRefused });
  });

  it('is waited for since the first session asked, as long as each asks again', () => {
    expect(place.loadRequestedSinceMs).toBe(Infinity);
    place.requestLoad('a');
    nowMs += 100;
    place.requestLoad('b');
    nowMs += 4899;
    expect(place.loadRequestedSinceMs).toBe(1000);
    nowMs += 1;
    expect(place.loadRequestedSinceMs).toBe(1100);
    place.requestLoad('b');
    nowMs += 4999;
    expect(place.loadRequestedSinceMs).toBe(1100);
    nowMs += 1;
    expect(place.loadRequestedSinceMs).toBe(Infinity);
    place.requestLoad('b');
    expect([place.loadRequestedSinceMs, place.arrived()]).toEqual([11_000, ['b']]);
  });

  it('tells when a session begins to wait, and when it has given up', () => {
    jest.useFakeTimers();
    place.requestLoad('a');
    expect(onChange).toHaveBeenCalledTimes(1);
    jest.advanceTimersByTime(5000);
    expect(onChange).toHaveBeenCalledTimes(1);
    jest.advanceTimersByTime(1);
    expect(onChange).toHaveBeenCalledTimes(2);
    place.requestLoad(undefined, Infinity);
    expect([onChange.mock.calls.length, jest.getTimerCount()]).toEqual([3, 0]);
    jest.useRealTimers();
  });

  it('forgets a session that has given up, also when it comes back or the model is there', () => {
    place.requestLoad('a');
    place.requestLoad('b');
    nowMs += 5000;
    place.requestLoad('a');
    expect([place.loadRequestedSinceMs, place.arrived()]).toEqual([6000, ['a']]);
    place.requestLoad('b');
    nowMs += 5000;
    expect(place.arrived()).toEqual([]);
  });

  it('is waited for by an operator until it is loaded, which names the sessions that waited', () => {
    place.requestLoad('gone');
    nowMs += 5000;
    place.requestLoad(undefined, Infinity);
    place.requestLoad('a');
    place.refuse('too large', Infinity);
    place.requestLoad('b');
    place.requestLoad(undefined, Infinity);
    expect([place.arrived(), place.loadRequestedSinceMs, place.refusal]).toEqual([
      ['b'],
      Infinity,
      undefined,
    ]);
  });

  it('is refused for a while, and no longer waited for', () => {
    place.requestLoad('a');
    expect(place.refusal).toBeUndefined();
    place.refuse('too large', 1500);
    expect([place.refusal, place.loadRequestedSinceMs, onRefused.mock.calls.length]).toEqual([
      'too large',
      Infinity,
      1,
    ]);
    nowMs = 1499;
    expect(place.refusal).toBe('too large');
    nowMs = 1500;
    expect(place.refusal).toBeUndefined();
  });

  it('is that of all replicas', () => {
    const model = modelSpec({ replicas: 2 });
    expect(onDevice(model, undefined)).toBe(model);
    expect(onDevice(model, 'cuda:1').replicas).toEqual([
      { device: 'cuda:1' },
      { device: 'cuda:1' },
    ]);
  });
});

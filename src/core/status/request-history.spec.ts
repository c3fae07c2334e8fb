import { describe, expect, it } from '@jest/globals';
import { type DispatchEvent } from '../dispatch/dispatch-event.js';
import { type ErrorCode } from '../errors/domain-error.js';
import { type RequestKey } from '../request/request-key.js';
import { RequestHistory, WaitHistogram } from './request-history.js';

const base = {
  key: 'k' as RequestKey,
  requestId: 'r',
  model: 'm',
  priority: 'batch',
  atMs: 0,
} as const;
const accepted: DispatchEvent = { ...base, type: 'accepted', bytes: 1 };
const rejected: DispatchEvent = { ...base, type: 'rejected', code: 'queue_full' };
const leased = (queueWaitMs: number, attempt = 1): DispatchEvent => ({
  ...base,
  type: 'leased',
  workerId: 'w',
  groupId: 'g',
  groupSize: 1,
  reason: 'single',
  attempt,
  queueWaitMs,
  batchWaitMs: 0,
});
const settled = (status: 'completed' | 'failed' | 'cancelled'): DispatchEvent => ({
  ...base,
  type: 'settled',
  status,
  phases: {},
  attempts: 1,
});

const ring = () => new RequestHistory({ steps: 3, startMs: 0 });
const NOTHING = new Map();

describe('RequestHistory', () => {
  it('counts events by model and step, with what the queue held at its end', () => {
    const history = ring();
    for (const event of [
      accepted,
      accepted,
      rejected,
      leased(100),
      settled('completed'),
      settled('cancelled'),
    ])
      history.apply(event);
    history.close(10_000, 1, new Map([['m', { waiting: 2, inFlight: 1, oldestWaitMs: 5 }]]));
    const [point] = history.points(10);
    expect(point?.at).toBe(1);
    expect(point?.models.get('m')).toMatchObject({
      arrived: 2,
      completed: 1,
      failed: 0,
      cancelled: 1,
      refused: 1,
      waiting: 2,
      inFlight: 1,
      oldestWaitMs: 5,
    });
  });

  it('leaves out models with nothing to report, and keeps the last steps only', () => {
    const history = ring();
    for (let step = 1; step <= 5; step++)
      history.close(
        step * 10_000,
        step,
        new Map([['idle', { waiting: 0, inFlight: 0, oldestWaitMs: 0 }]]),
      );
    expect(history.points(10)).toEqual([3, 4, 5].map(at => ({ at, models: new Map() })));
    expect(history.points(1).map(({ at }) => at)).toEqual([5]);
  });

  it('counts the wait of a request once, however often it is leased', () => {
    const history = ring();
    history.apply(leased(100));
    history.apply(leased(9000, 2));
    history.close(10_000, 1, NOTHING);
    expect(history.points(1)[0]?.models.get('m')?.waitP95Ms).toBeLessThan(110);
  });

  it('knows the commonest code of what failed in the last minute, of ended steps and the open one', () => {
    const history = ring();
    const failed = (code: ErrorCode): DispatchEvent =>
      ({ ...(settled('failed') as object), code }) as DispatchEvent;
    for (const event of [failed('invalid_audio'), failed('invalid_audio')]) history.apply(event);
    history.close(10_000, 1, NOTHING);
    for (let count = 0; count < 3; count++) history.apply(failed('engine_failed'));
    expect(history.rates('m', 10_000)).toMatchObject({
      failed: 0.5,
      commonestFailure: 'engine_failed',
    });
    for (const event of [failed('invalid_audio'), failed('invalid_audio')]) history.apply(event);
    expect(history.rates('m', 10_000).commonestFailure).toBe('invalid_audio');
  });

  it('takes rates over the last minute, and over less while it is young', () => {
    const history = new RequestHistory({ steps: 360, startMs: 0 });
    for (let count = 0; count < 10; count++) history.apply(accepted);
    expect(history.rates('m', 5000).arrived).toBe(2);
    history.close(10_000, 1, NOTHING);
    for (let step = 2; step <= 7; step++) history.close(step * 10_000, step, NOTHING);
    expect(history.rates('m', 70_000).arrived).toBe(0);
    for (let count = 0; count < 60; count++) history.apply(settled('completed'));
    expect(history.rates('m', 70_000).completed).toBe(1);
    expect(history.rates('other', 70_000)).toEqual({
      arrived: 0,
      completed: 0,
      failed: 0,
      cancelled: 0,
      refused: 0,
    });
  });
});

describe('WaitHistogram', () => {
  it('finds quantiles within 5 %', () => {
    const waits = new WaitHistogram();
    for (let ms = 1; ms <= 1000; ms++) waits.add(ms);
    expect(Math.abs(waits.quantile(0.5)! / 500 - 1)).toBeLessThan(0.05);
    expect(Math.abs(waits.quantile(0.95)! / 950 - 1)).toBeLessThan(0.05);
  });

  it('has none without a wait, and takes a wait of 0', () => {
    const waits = new WaitHistogram();
    expect(waits.quantile(0.5)).toBeUndefined();
    waits.add(0);
    expect(waits.quantile(0.5)).toBeLessThan(0.1);
  });
});

import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Lease } from '../../core/dispatch/lease.js';
import { WorkerLostError } from '../../core/request/worker-lost.js';
import { ServiceRecord } from './service-record.js';

describe('CircuitBreaker', () => {
  let record: ServiceRecord;
  let rooms: number;

  beforeEach(() => {
    jest.useFakeTimers();
    rooms = 0;
    record = new ServiceRecord(
      { breakerFailures: 3, breakerMinMs: 100, breakerMaxMs: 350 },
      () => (rooms += 1),
    );
  });
  afterEach(() => {
    record.clear();
    jest.useRealTimers();
  });

  const offer = {
    ...{ workerId: 'w', free: 4, urgent: 4, idle: true, maxBatch: 4 },
    ...{ total: 4, latencyMs: 0 },
  };
  const takesTrial = () => record.limit(offer)?.isTrial === true;
  const begunTrial = () => record.trials([new Lease(() => undefined)])[0]!;
  const fail = (times: number): void => {
    for (let time = 1; time <= times; time += 1) record.note(`failure ${time}`);
  };

  it('is not trusted after it refused a request, until it has answered another', () => {
    expect(record.failed(new WorkerLostError('refused', 'full'))).toBe(false);
    expect(record.isTrusted).toBe(false);
    record.answered();
    expect(record.isTrusted).toBe(true);
    expect(record.failed(new WorkerLostError('draining', 'it drains'))).toBe(true);
    expect(record.isTrusted).toBe(false);
  });

  it('opens at the third failure in a row; an answer in between starts the count again', () => {
    fail(2);
    record.answered();
    fail(2);
    expect([record.breaker, record.problem]).toEqual(['closed', undefined]);
    fail(1);
    expect(record.breaker).toBe('open');
    expect(record.problem).toBe(
      'circuit breaker open after 3 failures in a row, next trial within 100 ms: failure 1',
    );
  });

  it('lets one request through after its pause, and closes when that is answered', () => {
    fail(3);
    expect(takesTrial()).toBe(false);
    jest.advanceTimersByTime(100);
    expect([record.breaker, takesTrial(), rooms]).toEqual(['half_open', true, 1]);
    const trial = begunTrial();
    expect(takesTrial()).toBe(false);
    record.answered();
    trial.release();
    expect([record.breaker, rooms]).toEqual(['closed', 2]);
  });

  it('doubles its pause with each failed trial, up to the longest', () => {
    fail(3);
    const pauses = [100, 200, 350, 350].map(pauseMs => {
      jest.advanceTimersByTime(pauseMs - 1);
      const before = record.breaker;
      jest.advanceTimersByTime(1);
      const after = record.breaker;
      const trial = begunTrial();
      record.note('again');
      trial.release();
      return `${before} ${after}`;
    });
    expect(pauses).toEqual(Array(4).fill('open half_open'));
    expect(rooms).toBe(4);
  });

  it('tries another request when the first ended without a verdict', () => {
    fail(3);
    jest.advanceTimersByTime(100);
    begunTrial().release();
    expect([record.breaker, takesTrial(), rooms]).toEqual(['half_open', true, 2]);
  });

  it('stays open whatever calls from before still say', () => {
    fail(3);
    record.answered();
    fail(5);
    expect(record.breaker).toBe('open');
    jest.advanceTimersByTime(100);
    expect(record.breaker).toBe('half_open');
  });
});

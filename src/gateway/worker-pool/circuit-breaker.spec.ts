import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Lease } from '../../core/dispatch/lease.js';
import { WorkerLostError } from '../../core/request/worker-lost.js';
import { CircuitBreaker } from './circuit-breaker.js';

describe('CircuitBreaker', () => {
  let breaker: CircuitBreaker;
  let rooms: number;

  beforeEach(() => {
    jest.useFakeTimers();
    rooms = 0;
    breaker = new CircuitBreaker({ breakerFailures: 3, breakerMinMs: 100 }, () => (rooms += 1));
  });
  afterEach(() => {
    breaker.clear();
    jest.useRealTimers();
  });

  const offer = {
    workerId: 'w',
    free: 4,
    urgent: 4,
    idle: true,
    maxBatch: 4,
    total: 4,
    latencyMs: 0,
  };
  const takesTrial = () => breaker.limit(offer)?.isTrial === true;
  const begunTrial = () => breaker.trials([new Lease(() => undefined)])[0]!;
  const fail = (times: number): void => {
    for (let time = 1; time <= times; time += 1) breaker.note(`failure ${time}`);
  };

  it('is not trusted after it refused a request, until it has answered another', () => {
    expect(breaker.failed(new WorkerLostError('refused', 'full'))).toBe(false);
    expect(breaker.isTrusted).toBe(false);
    breaker.answered();
    expect(breaker.isTrusted).toBe(true);
    expect(breaker.failed(new WorkerLostError('draining', 'it drains'))).toBe(true);
    expect(breaker.isTrusted).toBe(false);
  });

  it('opens at the third failure in a row; an answer in between starts the count again', () => {
    fail(2);
    breaker.answered();
    fail(2);
    expect([breaker.state, breaker.problem]).toEqual(['closed', undefined]);
    fail(1);
    expect(breaker.state).toBe('open');
    expect(breaker.problem).toBe(
      'circuit breaker open after 3 failures in a row, next trial within 100 ms: failure 1',
    );
  });

  it('lets one request through after its pause, and closes when that is answered', () => {
    fail(3);
    expect(takesTrial()).toBe(false);
    jest.advanceTimersByTime(100);
    expect([breaker.state, takesTrial(), rooms]).toEqual(['half_open', true, 1]);
    const trial = begunTrial();
    expect(takesTrial()).toBe(false);
    breaker.answered();
    trial.release();
    expect([breaker.state, rooms]).toEqual(['closed', 2]);
  });

  it('doubles its pause with each failed trial, up to 30 times the first', () => {
    fail(3);
    const pauses = [100, 200, 400, 800, 1600, 3000, 3000].map(pauseMs => {
      jest.advanceTimersByTime(pauseMs - 1);
      const before = breaker.state;
      jest.advanceTimersByTime(1);
      const after = breaker.state;
      const trial = begunTrial();
      breaker.note('again');
      trial.release();
      return `${before} ${after}`;
    });
    expect(pauses).toEqual(Array(7).fill('open half_open'));
    expect(rooms).toBe(7);
  });

  it('tries another request when the first ended without a verdict', () => {
    fail(3);
    jest.advanceTimersByTime(100);
    begunTrial().release();
    expect([breaker.state, takesTrial(), rooms]).toEqual(['half_open', true, 2]);
  });

  it('stays open whatever calls from before still say', () => {
    fail(3);
    breaker.answered();
    fail(5);
    expect(breaker.state).toBe('open');
    jest.advanceTimersByTime(100);
    expect(breaker.state).toBe('half_open');
  });
});

it('knows how fast its worker answers: from the first answer on, old ones count less', () => {
  const breaker = new CircuitBreaker({ breakerFailures: 3, breakerMinMs: 1 }, () => undefined);
  expect(breaker.latencyMs).toBe(0);
  breaker.answered(100);
  expect(breaker.latencyMs).toBe(100);
  for (let answer = 0; answer < 30; answer += 1) breaker.answered(20);
  expect(breaker.latencyMs).toBeCloseTo(20, 0);
});

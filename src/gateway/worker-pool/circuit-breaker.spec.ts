import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { CircuitBreaker } from './circuit-breaker.js';

describe('CircuitBreaker', () => {
  let breaker: CircuitBreaker;
  let rooms: number;

  beforeEach(() => {
    jest.useFakeTimers();
    rooms = 0;
    breaker = new CircuitBreaker({ failures: 3, minMs: 100, maxMs: 350 }, () => (rooms += 1));
  });
  afterEach(() => {
    breaker.reset();
    jest.useRealTimers();
  });

  const fail = (times: number): void => {
    for (let time = 1; time <= times; time += 1) breaker.failed(`failure ${time}`);
  };

  it('opens at the third failure in a row; an answer in between starts the count again', () => {
    fail(2);
    breaker.answered();
    fail(2);
    expect([breaker.state, breaker.problem]).toEqual(['closed', undefined]);
    fail(1);
    expect(breaker.state).toBe('open');
    expect(breaker.problem).toBe('circuit breaker open after 3 failures in a row, next trial within 100 ms: failure 1');
  });

  it('lets one request through after its pause, and closes when that is answered', () => {
    fail(3);
    expect(breaker.takesTrial).toBe(false);
    jest.advanceTimersByTime(100);
    expect([breaker.state, breaker.takesTrial, rooms]).toEqual(['half_open', true, 1]);
    breaker.trialBegins();
    expect(breaker.takesTrial).toBe(false);
    breaker.answered();
    breaker.trialEnds();
    expect([breaker.state, rooms]).toEqual(['closed', 2]);
  });

  it('doubles its pause with each failed trial, up to the longest', () => {
    fail(3);
    const pauses = [100, 200, 350, 350].map(pauseMs => {
      jest.advanceTimersByTime(pauseMs - 1);
      const before = breaker.state;
      jest.advanceTimersByTime(1);
      const after = breaker.state;
      breaker.trialBegins();
      breaker.failed('again');
      breaker.trialEnds();
      return `${before} ${after}`;
    });
    expect(pauses).toEqual(Array(4).fill('open half_open'));
    expect(rooms).toBe(4);
  });

  it('tries another request when the first ended without a verdict', () => {
    fail(3);
    jest.advanceTimersByTime(100);
    breaker.trialBegins();
    breaker.trialEnds();
    expect([breaker.state, breaker.takesTrial, rooms]).toEqual(['half_open', true, 2]);
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

import { describe, expect, it } from '@jest/globals';
import { InputPace } from './input-pace.js';

describe('the pace of a client', () => {
  it('never waits in real time', () => {
    const pace = new InputPace(1000);
    for (let now = 0; now < 60_000; now += 20) expect(pace.received(20, now)).toBe(0);
  });

  it('waits for what exceeds 1 s ahead, and is excessive beyond 2 s', () => {
    const pace = new InputPace(1000);
    expect(pace.received(900, 0)).toBe(0);
    expect(pace.received(600, 0)).toBe(500);
    expect(pace.excessive).toBe(false);
    expect(pace.received(600, 0)).toBe(1100);
    expect(pace.excessive).toBe(true);
  });

  it('is even again when the time has passed', () => {
    const pace = new InputPace(1000);
    pace.received(1500, 0);
    expect(pace.received(100, 1500)).toBe(0);
  });
});

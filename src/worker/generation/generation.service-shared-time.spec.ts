import { describe, expect, it } from '@jest/globals';
import { sharedTime } from './generation.service.js';

describe('SharedTime', () => {
  it('gives one that runs alone all of the time', () => {
    const time = sharedTime();
    const mark = time.begin(100);
    expect(time.since(mark, 130)).toBe(30);
  });

  it('divides each moment by those that run in it, and adds up to the time of the device', () => {
    const time = sharedTime();
    const a = time.begin(0);
    const b = time.begin(10);
    expect(time.since(a, 30)).toBe(20);
    time.end(30);
    expect(time.since(b, 40)).toBe(20);
    time.end(40);
    const c = time.begin(1000);
    expect(time.since(c, 1005)).toBe(5);
  });
});

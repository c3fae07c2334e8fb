import { describe, expect, it } from '@jest/globals';
import { WindowWait } from './window-wait.js';

describe('WindowWait', () => {
  it('blames the window for nothing it did not hold', () => {
    expect(new WindowWait().waitedMs('m', 0, 100)).toBe(0);
  });

  it('counts from when the window became the reason, not from the enqueue', () => {
    const wait = new WindowWait();
    wait.held('m', 40);
    wait.held('m', 43);
    expect(wait.waitedMs('m', 0, 45)).toBe(5);
  });

  it('counts a later member from its own enqueue', () => {
    const wait = new WindowWait();
    wait.held('m', 40);
    expect(wait.waitedMs('m', 43, 45)).toBe(2);
  });

  it('starts anew after the lane went or its slot was gone', () => {
    const wait = new WindowWait();
    wait.held('m', 40);
    wait.over('m');
    expect(wait.waitedMs('m', 0, 60)).toBe(0);
    wait.held('m', 60);
    expect(wait.waitedMs('m', 0, 61)).toBe(1);
  });

  it('keeps models apart', () => {
    const wait = new WindowWait();
    wait.held('m1', 40);
    expect(wait.waitedMs('m2', 0, 45)).toBe(0);
  });
});

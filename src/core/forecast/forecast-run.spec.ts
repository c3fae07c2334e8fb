import { describe, expect, it } from '@jest/globals';
import { StartCurve } from './forecast-run.js';

/** Comes to tag 10 at 100 ms, to 20 at 200 ms, and so on. */
function steady(points = 5): StartCurve {
  const curve = new StartCurve(0, 0);
  for (let point = 1; point <= points; point += 1) curve.reached(100 * point, 10 * point);
  return curve;
}

describe('StartCurve', () => {
  it('starts a request when the lane reaches its start tag', () => {
    expect([
      steady().startsAtMs(10, 0),
      steady().startsAtMs(11, 0),
      steady().startsAtMs(50, 0),
    ]).toEqual([100, 200, 500]);
  });

  it('counts from where the lane should be by then', () => {
    expect(steady().startsAtMs(10, 250)).toBe(300);
  });

  it('goes on at its mean pace past the end of the run', () => {
    expect(steady().startsAtMs(80, 0)).toBe(800);
  });

  it('starts what comes at once when the lane is empty and a slot is free', () => {
    const curve = steady();
    curve.idle(600);
    curve.reached(900, 60);
    expect([curve.startsAtMs(70, 0), curve.startsAtMs(0, 650)]).toEqual([600, 650]);
  });
});

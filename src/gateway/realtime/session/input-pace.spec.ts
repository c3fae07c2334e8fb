import { describe, expect, it } from '@jest/globals';
import { inputPace } from './input-pace.js';

/** Frames of `audioMs`, one every `everyMs`, until somebody has lost or `untilMs`. */
function sent(
  pace: ReturnType<typeof inputPace>,
  { audioMs = 20, everyMs = 20, backlogMs = 0, untilMs = 60_000 },
) {
  let last: ReturnType<typeof pace> = { pauseMs: 0 };
  let nowMs = 0;
  for (; nowMs < untilMs && last.lost === undefined; nowMs += everyMs)
    last = pace(audioMs, backlogMs, nowMs);
  return { ...last, atMs: nowMs };
}

describe('the pace of a client', () => {
  it('never waits in real time', () => {
    expect(sent(inputPace(1000), {})).toEqual({ pauseMs: 0, atMs: 60_000 });
  });

  it('waits for what exceeds 1 s ahead, and has lost beyond 2 s', () => {
    const pace = inputPace(1000);
    expect(pace(900, 0, 0)).toEqual({ pauseMs: 0 });
    expect(pace(600, 0, 0)).toEqual({ pauseMs: 500 });
    expect(pace(600, 0, 0)).toEqual({ pauseMs: 1100, lost: 'client' });
  });

  it('is even again when the time has passed', () => {
    const pace = inputPace(1000);
    pace(1500, 0, 0);
    expect(pace(100, 0, 1500)).toEqual({ pauseMs: 0 });
  });

  it('has lost when it goes on at twice real time, slowed for 1 s', () => {
    const pace = inputPace(1000);
    expect(sent(pace, { audioMs: 40 })).toMatchObject({ lost: 'client' });
  });

  it('may go on in real time after a burst', () => {
    const pace = inputPace(1000);
    expect(pace(1100, 0, 0)).toEqual({ pauseMs: 100 });
    expect(sent(pace, {})).toEqual({ pauseMs: 0, atMs: 60_000 });
  });

  it('may stumble for ever: pauses with time in between do not add up', () => {
    const pace = inputPace(1000);
    for (let now = 0; now < 600_000; now += 3000)
      expect(pace(1500, 0, now)).toEqual({ pauseMs: 500 });
  });

  it('waits for a recogniser that is behind, a second at most, and not for longer than 3 s in all', () => {
    const pace = inputPace(3000);
    expect(pace(20, 2900, 0)).toEqual({ pauseMs: 0 });
    expect(pace(20, 3400, 20)).toEqual({ pauseMs: 400 });
    expect(sent(pace, { everyMs: 1000, backlogMs: 9000 })).toMatchObject({
      pauseMs: 1000,
      lost: 'recogniser',
    });
  });
});

import { describe, expect, it } from '@jest/globals';
import { InputPace, type Pace } from './recognition.js';

/** Frames of `audioMs`, one every `everyMs`, until somebody has lost or `untilMs`. */
function sent(
  pace: InputPace,
  { audioMs = 20, everyMs = 20, backlogMs = 0, untilMs = 60_000 },
) {
  let last: Pace = { pauseMs: 0 };
  let nowMs = 0;
  for (; nowMs < untilMs && last.lost === undefined; nowMs += everyMs)
    last = pace.received(audioMs, backlogMs, nowMs);
  return { ...last, atMs: nowMs };
}

describe('the pace of a client', () => {
  it('never waits in real time', () => {
    expect(sent(new InputPace(1000), {})).toEqual({ pauseMs: 0, atMs: 60_000 });
  });

  it('waits for what exceeds 1 s ahead, and has lost beyond 2 s', () => {
    const pace = new InputPace(1000);
    expect(pace.received(900, 0, 0)).toEqual({ pauseMs: 0 });
    expect(pace.received(600, 0, 0)).toEqual({ pauseMs: 500 });
    expect(pace.received(600, 0, 0)).toEqual({ pauseMs: 1100, lost: 'client' });
  });

  it('is even again when the time has passed', () => {
    const pace = new InputPace(1000);
    pace.received(1500, 0, 0);
    expect(pace.received(100, 0, 1500)).toEqual({ pauseMs: 0 });
  });

  it('has lost when it goes on at twice real time, slowed for 1 s', () => {
    const pace = new InputPace(1000);
    expect(sent(pace, { audioMs: 40 })).toMatchObject({ lost: 'client' });
  });

  it('may go on in real time after a burst', () => {
    const pace = new InputPace(1000);
    expect(pace.received(1100, 0, 0)).toEqual({ pauseMs: 100 });
    expect(sent(pace, {})).toEqual({ pauseMs: 0, atMs: 60_000 });
  });

  it('may stumble for ever: pauses with time in between do not add up', () => {
    const pace = new InputPace(1000);
    for (let now = 0; now < 600_000; now += 3000)
      expect(pace.received(1500, 0, now)).toEqual({ pauseMs: 500 });
  });

  it('waits for a recogniser that is behind, a second at most, and not for longer than 3 s in all', () => {
    const pace = new InputPace(3000);
    expect(pace.received(20, 2900, 0)).toEqual({ pauseMs: 0 });
    expect(pace.received(20, 3400, 20)).toEqual({ pauseMs: 400 });
    expect(sent(pace, { everyMs: 1000, backlogMs: 9000 })).toMatchObject({
      pauseMs: 1000,
      lost: 'recogniser',
    });
  });
});

import { describe, expect, it } from '@jest/globals';
import { DeviceTurn, type DeviceView } from './device-turn.js';
import { GroupWait } from './return-wait.js';

const view = (change: Partial<DeviceView> = {}): DeviceView => ({
  ready: 4,
  maxBatch: 8,
  running: 0,
  missing: 0,
  preparing: 0,
  realtime: false,
  draining: false,
  ...change,
});

const CALL = { answered: 4, urgent: 0, deviceMs: 20, full: false };

/** A turn at 1000 ms: the device has just answered 4 callers, who came back every time so far (or never did). */
function turnAfter(returns: 'always' | 'never'): DeviceTurn {
  const turn = new DeviceTurn({ groups: new GroupWait({ ceilingMs: 100 }) });
  for (let endMs = 800; endMs < 1000; endMs += 20) {
    turn.ended(CALL, endMs);
    turn.over();
    if (returns === 'always') for (let item = 0; item < 4; item += 1) turn.ready(endMs + 3, undefined);
  }
  turn.ended(CALL, 1000);
  return turn;
}

describe('DeviceTurn (D-24)', () => {
  it.each([
    // callers   device      head's group    held until
    ['never', ' freed', ' complete      ', undefined],
    ['never', ' freed', ' misses members', undefined],
    ['never', ' idle', '  complete      ', undefined],
    ['never', ' idle', '  misses members', 1102],
    ['always', 'freed', ' complete      ', 1010],
    ['always', 'freed', ' misses members', 1010],
    ['always', 'idle', '  complete      ', 1010],
    ['always', 'idle', '  misses members', 1102],
  ])('callers %s return, device %s, group %s: held until %d', (returns, device, group, heldUntilMs) => {
    const turn = turnAfter(returns as 'always' | 'never');
    // Nothing was READY when the call ended: the device is idle.
    if (device.trim() === 'idle') turn.over();
    const decision = turn.decide(view({ missing: group.trim() === 'complete' ? 0 : 1 }), 1002);
    expect(decision).toEqual(heldUntilMs === undefined ? { go: true } : { go: false, wakeAtMs: heldUntilMs });
  });

  it('does not begin to wait for a group after it has waited for returns', () => {
    const turn = turnAfter('always');
    expect(turn.decide(view({ missing: 1 }), 1000)).toEqual({ go: false, wakeAtMs: 1010 });
    expect(turn.decide(view({ missing: 1 }), 1010)).toEqual({ go: true });
  });

  it('waits for a group again in the next turn', () => {
    const turn = turnAfter('never');
    turn.over();
    expect(turn.decide(view({ missing: 1 }), 1020)).toEqual({ go: false, wakeAtMs: 1120 });
    expect(turn.decide(view({ missing: 1 }), 1119)).toEqual({ go: false, wakeAtMs: 1120 });
    expect(turn.decide(view({ missing: 1 }), 1120)).toEqual({ go: true });
  });

  it.each<[number, number, number, 'REALTIME' | 'BATCH', number | undefined]>([
    // answered  of these REALTIME  back already  next item   held until
    [8, 8, 7, 'REALTIME', 1010],
    [8, 8, 8, 'REALTIME', undefined],
    [1, 1, 1, 'REALTIME', undefined],
    [8, 0, 0, 'REALTIME', undefined],
    [8, 1, 1, 'REALTIME', undefined],
    [8, 1, 1, 'BATCH', 1010],
  ])('of %d answered %d are REALTIME, %d of them are back, next %s: held until %d', (...row) => {
    const [answered, urgent, back, next, heldUntilMs] = row;
    const turn = new DeviceTurn();
    for (let endMs = 800; endMs <= 1000; endMs += 20) {
      turn.ended({ answered, urgent, deviceMs: 20, full: false }, endMs);
      turn.over();
      const returns = endMs < 1000 ? answered : back;
      for (let item = 0; item < returns; item += 1) turn.ready(endMs + 1, undefined, item < urgent);
    }
    const decision = turn.decide(view({ ready: 1, maxBatch: 16, realtime: next === 'REALTIME' }), 1001);
    expect(decision).toEqual(heldUntilMs === undefined ? { go: true } : { go: false, wakeAtMs: heldUntilMs });
  });

  it('waits for no group while an engine call runs', () => {
    const turn = new DeviceTurn();
    expect(turn.decide(view({ missing: 1, running: 1 }), 0)).toEqual({ go: true });
  });
});

import { describe, expect, it } from '@jest/globals';
import { bornAtMs, timeOrderedId } from './time-ordered-id.js';

/** Later than whatever was made in this process before. */
const NOW = Date.UTC(2100, 0, 1);

describe('an id', () => {
  it('is a prefix and 32 digits, and says when it was made', () => {
    const id = timeOrderedId('file-', NOW + 0.75);
    expect(id).toMatch(/^file-[0-9a-f]{32}$/);
    expect(bornAtMs(id)).toBe(NOW);
    expect(bornAtMs('file-1')).toBeUndefined();
    expect(bornAtMs(`${id.slice(0, -1)}G`)).toBeUndefined();
  });

  it('grows: in one millisecond, 70,000 at once, and when the clock is set back', () => {
    const ids = Array.from({ length: 70_000 }, () => timeOrderedId('', NOW + 10));
    ids.push(timeOrderedId('', NOW + 5), timeOrderedId('', NOW + 60_000));
    expect(ids.findIndex((id, at) => at > 0 && id <= ids[at - 1]!)).toBe(-1);
    expect(new Set(ids.map(id => id.slice(16))).size).toBe(ids.length);
    expect(bornAtMs(ids[0]!)).toBe(NOW + 10);
    expect(bornAtMs(ids[0xffff]!)).toBe(NOW + 10);
    expect(bornAtMs(ids[0x10000]!)).toBe(NOW + 11);
    expect(bornAtMs(ids.at(-2)!)).toBe(NOW + 11);
    expect(bornAtMs(ids.at(-1)!)).toBe(NOW + 60_000);
    expect(ids.at(-1)!.slice(12, 16)).toBe('0000');
  });

  it('follows a clock that was days ahead and is right again', () => {
    const [ahead, now] = [timeOrderedId('', NOW + 86_400_000), timeOrderedId('', NOW)];
    expect([bornAtMs(ahead), bornAtMs(now)]).toEqual([NOW + 86_400_000, NOW]);
  });
});

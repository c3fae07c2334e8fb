import { describe, expect, it } from '@jest/globals';
import { EventRing } from './event-ring.js';

const ringOf = (count: number, limits: { events: number; bytes: number }): EventRing => {
  const ring = new EventRing(limits.bytes, limits.events);
  for (let at = 1; at <= count; at += 1) ring.add({ id: `e${at}`, json: '0123456789' });
  return ring;
};
const ids = (ring: EventRing, lastId: string) => ring.after(lastId)?.map(({ id }) => id);

describe('the ring of sent events', () => {
  it('returns exactly what came after the last event seen', () => {
    const ring = ringOf(4, { events: 10, bytes: 1000 });
    expect(ids(ring, 'e2')).toEqual(['e3', 'e4']);
    expect(ids(ring, 'e4')).toEqual([]);
  });

  it('holds 3 events and says so when an older one is asked for', () => {
    const ring = ringOf(5, { events: 3, bytes: 1000 });
    expect(ids(ring, 'e3')).toEqual(['e4', 'e5']);
    expect(ids(ring, 'e2')).toBeUndefined();
  });

  it('holds 25 bytes: two events of ten', () => {
    const ring = ringOf(3, { events: 10, bytes: 25 });
    expect(ids(ring, 'e2')).toEqual(['e3']);
    expect(ids(ring, 'e1')).toBeUndefined();
  });

  it('holds no more than its bytes, and says how many it dropped', () => {
    const ring = ringOf(2, { events: 10, bytes: 20 });
    expect(ids(ring, 'e1')).toEqual(['e2']);
    expect(ring.add({ id: 'e3', json: '0123456789' })).toBe(1);
    expect(ring.all.map(({ id }) => id)).toEqual(['e2', 'e3']);
    expect(ring.add({ id: 'e4', json: '' })).toBe(0);
  });

  it('knows no event that was never sent', () => {
    expect(ids(ringOf(2, { events: 3, bytes: 1000 }), 'e9')).toBeUndefined();
  });
});

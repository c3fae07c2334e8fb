import { describe, expect, it } from '@jest/globals';
import { AgingTurns } from './aging-turns.js';

/** The first turns of a contest: `R` and `a`. */
function order(turns: AgingTurns, count: number) {
  let drawn = '';
  while (drawn.length < count) {
    const aged = turns.isAgedNext(1, 0);
    turns.taken(aged, true);
    drawn += aged ? 'a' : 'R';
  }
  return drawn;
}

describe('AgingTurns', () => {
  it.each([
    [0.25, 'RRRaRRRaRRRa'],
    [0.5, 'RaRaRaRa'],
    [0.3, 'RRRaRRaRRaRRRaRRaRRa'],
    [0.75, 'RaaaRaaaRaaa'],
    [0.01, 'R'.repeat(99) + 'a' + 'R'.repeat(99) + 'a'],
  ])('gives aged requests exactly %d of the turns: %s', (share, drawn) => {
    expect(order(new AgingTurns(share), drawn.length)).toBe(drawn);
  });

  it('serves by age alone with a share of 1', () => {
    const turns = new AgingTurns(1);
    expect([turns.isAgedNext(5, 4), turns.isAgedNext(5, 5), turns.isAgedNext(5, 6)]).toEqual([
      true,
      false,
      false,
    ]);
  });

  it('looks ahead on a copy without counting', () => {
    const turns = new AgingTurns(0.25);
    expect(order(turns.copy(), 4)).toBe('RRRa');
    expect(order(turns, 4)).toBe('RRRa');
  });

  it.each([0, -0.1, 1.1, NaN])('refuses a share of %d', share => {
    expect(() => new AgingTurns(share)).toThrow(RangeError);
  });
});

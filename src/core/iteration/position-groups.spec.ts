import { describe, expect, it } from '@jest/globals';
import { formPositionGroups } from './position-groups.js';

const at = (position: number, held = 0) => ({ position, held });
const positions = (running: ReturnType<typeof at>[], maxHoldSteps: number) => {
  const { go, hold } = formPositionGroups(running, maxHoldSteps);
  return { go: go.map(group => group.map(({ position }) => position)), hold: hold.map(({ position }) => position) };
};

describe('formConvoys', () => {
  it('runs equal positions together', () => {
    expect(positions([at(7), at(7), at(7)], 10)).toEqual({ go: [[7, 7, 7]], hold: [] });
  });

  it('holds those ahead while the gap is at most their maxHoldSteps', () => {
    expect(positions([at(14), at(4)], 10)).toEqual({ go: [[4]], hold: [14] });
  });

  it('runs both apart when the gap is wider than the maxHoldSteps, or than what is left of it', () => {
    expect(positions([at(15), at(4)], 10)).toEqual({ go: [[4], [15]], hold: [] });
    expect(positions([at(14, 1), at(4)], 10)).toEqual({ go: [[4], [14]], hold: [] });
  });

  it('lets a far convoy gather too: 110 waits for 100, not for 4', () => {
    expect(positions([at(110), at(4), at(100)], 20)).toEqual({ go: [[4], [100]], hold: [110] });
  });
});

import { describe, expect, it } from '@jest/globals';
import { cutWindow } from './transcription-job.js';

const FIRST = 100;
const at = (position: number) => FIRST + position;
const cut = (tokens: readonly number[]) => {
  const { segments, advance } = cutWindow(tokens, FIRST, 50);
  return { advance, segments: segments.map(({ from, to, first, end }) => [from, to, tokens.slice(first, end)]) };
};

describe('cutWindow', () => {
  it('cuts at pairs of times; a single time at the end closes the window', () => {
    const tokens = [at(0), 1, at(10), at(12), 2, 3, at(30)];
    expect(cut(tokens)).toEqual({
      advance: 50,
      segments: [
        [0, 10, [at(0), 1, at(10)]],
        [12, 30, [at(12), 2, 3, at(30)]],
      ],
    });
  });

  it('leaves an unfinished last piece to the next window, which starts where the last whole one ended', () => {
    expect(cut([at(0), 1, at(10), at(12), 2])).toEqual({ advance: 10, segments: [[0, 10, [at(0), 1, at(10)]]] });
  });

  it('takes all as one segment when there is no pair, to its last time or to the end of the audio', () => {
    expect(cut([at(0), 1, at(20)])).toMatchObject({ advance: 50, segments: [[0, 20, expect.anything()]] });
    expect(cut([at(0), 1])).toMatchObject({ advance: 50, segments: [[0, 50, expect.anything()]] });
    expect(cut([])).toMatchObject({ advance: 50, segments: [[0, 50, []]] });
  });

  it('always moves on, also from times that stand still', () => {
    expect(cut([at(0), at(0), 1]).advance).toBe(50);
  });
});

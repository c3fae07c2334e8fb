import { describe, expect, it } from '@jest/globals';
import { type FileLine, LineSplitter, linesOf } from './line-splitter.js';

/** In every possible pair of chunks: where a chunk ends must not matter. */
function splits(text: string, maxBytes = Infinity): FileLine[][] {
  const bytes = Buffer.from(text);
  return Array.from({ length: bytes.length + 1 }, (_, at) => {
    const splitter = new LineSplitter(maxBytes);
    const chunks = [bytes.subarray(0, at), bytes.subarray(at)];
    return [...chunks.flatMap(chunk => [...splitter.push(chunk)]), ...splitter.end()];
  });
}

const shown = (lines: readonly FileLine[]) =>
  lines.map(({ offset, length, bytes }) => [offset, length, bytes?.toString()]);

describe('LineSplitter', () => {
  it('cuts at LF and CRLF, reports byte offsets, and takes a last line without a break', () => {
    for (const lines of splits('ä\r\n\nbc')) {
      expect(shown(lines)).toEqual([
        [0, 2, 'ä'],
        [4, 0, ''],
        [5, 2, 'bc'],
      ]);
      expect(lines.map(({ hasBreak }) => hasBreak)).toEqual([true, true, false]);
    }
    expect(splits('a').flat()).toHaveLength(2);
  });

  it('leaves a byte order mark out of the first line, and only of it', () => {
    for (const lines of splits('\ufeffa\n\ufeffb\n'))
      expect(shown(lines)).toEqual([
        [3, 1, 'a'],
        [5, 4, '\ufeffb'],
      ]);
  });

  it('keeps a line of exactly the limit and nothing of a longer one, line break and mark not counted', () => {
    for (const lines of splits('\ufeffabcd\r\nabcde\nabcdefghijk\nabcd', 4))
      expect(lines.map(({ bytes }) => bytes?.toString())).toEqual([
        'abcd',
        undefined,
        undefined,
        'abcd',
      ]);
  });

  it('gives nothing for an empty file, and the lines of a whole source', async () => {
    expect(splits('')).toEqual([[]]);
    const source = (async function* () {
      for (const text of ['a\nb', 'c\n']) yield await Promise.resolve(Buffer.from(text));
    })();
    const lines: FileLine[] = [];
    for await (const line of linesOf(source)) lines.push(line);
    expect(shown(lines)).toEqual([
      [0, 1, 'a'],
      [2, 2, 'bc'],
    ]);
  });
});

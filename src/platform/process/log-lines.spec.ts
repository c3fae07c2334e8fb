import { describe, expect, it } from '@jest/globals';
import { LastLines, LineSplitter } from './process-log.js';

function split(chunks: (string | Buffer)[]): string[] {
  const lines: string[] = [];
  const splitter = new LineSplitter(line => lines.push(line));
  for (const chunk of chunks) splitter.push(Buffer.from(chunk));
  splitter.end();
  return lines;
}

describe('LineSplitter', () => {
  it('joins lines across chunks, drops empty ones, and gives the last without its newline', () => {
    expect(split(['on', 'e\ntwo\r\n\n', 'th', 'ree'])).toEqual(['one', 'two', 'three']);
  });

  it('keeps a character that is cut between two chunks whole', () => {
    const bytes = Buffer.from('größer\n');
    expect(split([bytes.subarray(0, 3), bytes.subarray(3)])).toEqual(['größer']);
  });

  it('cuts a line that never ends at 65,536 characters', () => {
    expect(split(Array.from({ length: 5 }, () => 'x'.repeat(30_000))).map(line => line.length)).toEqual([
      65_536, 65_536, 18_928,
    ]);
  });
});

describe('LastLines', () => {
  it('keeps the newest 3', () => {
    const last = new LastLines(3);
    for (const line of ['a', 'b', 'c', 'd']) last.add(line);
    expect(last.lines).toEqual(['b', 'c', 'd']);
  });
});

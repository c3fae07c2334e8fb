import { appendFileSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { temporaryFolder } from '../../../test/support/temporary-folder.js';
import { decodeHead, encodeRecord, openSegments } from './result-segments.js';

const usage = { inputTokens: 3, outputTokens: 2, cachedTokens: 1, reasoningTokens: 0 };

describe('a record', () => {
  it.each([
    [{ index: 12, kind: 'O', usage, line: '{"a":1}' }, '12 O 3/2/1/0 '],
    [{ index: 3, kind: 'E', line: '{}' }, '3 E - '],
  ] as const)('is read as it was written: %j', (record, head) => {
    const bytes = encodeRecord(record);
    expect(bytes.toString()).toBe(`${head}${record.line}\n`);
    const { line: _line, ...fields } = { usage: undefined, ...record };
    expect(decodeHead(bytes.subarray(0, -1))).toEqual({ ...fields, lineStart: head.length });
  });

  it.each(['', '12 O - {"a":1', '12 X - {}', 'x O - {}', '12 O {}'])('is not: %j', text => {
    expect(decodeHead(Buffer.from(text))).toBeUndefined();
  });
});

describe('the files of a result log', () => {
  let folder: string;
  beforeEach(() => {
    folder = temporaryFolder();
  });

  const record = (index: number) => encodeRecord({ index, kind: 'O', line: `{"n":${index}}` });
  const append = (name: string, ...chunks: (Buffer | string)[]) => {
    for (const chunk of chunks) appendFileSync(join(folder, name), chunk);
  };
  type Segments = Awaited<ReturnType<typeof openSegments>>;
  const indices = (segments: Segments, written?: number) =>
    Array.fromAsync(segments.records(written), ({ head }) => head.index);

  it('are named by epoch and opening, each with a seal', async () => {
    const names: string[] = [];
    for (const epoch of [5, 5, 6, 5]) names.push((await openSegments(folder, epoch)).current);
    expect(names).toEqual([
      ...['0000000005-0000.log', '0000000005-0001.log'],
      ...['0000000006-0000.log', '0000000005-0002.log'],
    ]);
    expect(readdirSync(folder).sort()).toEqual(
      names.map(name => name.replace('log', 'seal')).sort(),
    );
  });

  it('keep what was complete when they were sealed, in the order of writing', async () => {
    const first = await openSegments(folder, 1);
    append(first.current, record(4), record(2));
    // Incomplete, though all but its line break is there; what follows is not read.
    append(first.current, record(7).subarray(0, -1));
    const second = await openSegments(folder, 2);
    // Of a processor that lost the job.
    append(first.current, '\n', record(8));
    append(second.current, record(1), record(3));
    const empty = await openSegments(folder, 2);
    const third = await openSegments(folder, 3);
    expect(empty.current).toBe('0000000002-0001.log');
    expect(await indices(third)).toEqual([4, 2, 1, 3]);
    append(third.current, record(5), record(6));
    expect(await indices(third)).toEqual([4, 2, 1, 3]);
    expect(await indices(third, record(5).length)).toEqual([4, 2, 1, 3, 5]);
    const fourth = await openSegments(folder, 4);
    expect(await indices(fourth)).toEqual([4, 2, 1, 3, 5, 6]);
  });

  it('end at a record that is not one, whatever follows', async () => {
    const { current } = await openSegments(folder, 1);
    append(current, record(0), '\n', record(1));
    expect(await indices(await openSegments(folder, 2))).toEqual([0]);
  });

  it('that cannot be read are an error: nothing of them is left out', async () => {
    const { current } = await openSegments(folder, 1);
    mkdirSync(join(folder, current));
    await expect(openSegments(folder, 2)).rejects.toThrow('EISDIR');
    rmSync(folder, { recursive: true });
    await expect(openSegments(folder, 2)).rejects.toThrow('ENOENT');
  });
});

import { type FileHandle, open, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { temporaryFolder } from '../../../test/support/temporary-folder.js';
import { type PlanEntry } from '../../core/jobs/plan-entry.js';
import { InputDamaged, InputLines, lineParts } from './input-lines.js';

const KIB = 1024;
/** Short, longer than a window, empty, and just over the end of one. */
const LENGTHS = [10, 500, 65 * KIB, 0, 63 * KIB, 3 * KIB, 200 * KIB, 7, 64 * KIB, 1];

let folder: string;
const path = () => join(folder, 'input.jsonl');
const lines = LENGTHS.map((length, index) => String(index).repeat(length));
const entries: PlanEntry[] = [];

beforeAll(async () => {
  folder = temporaryFolder();
  let offset = 0;
  for (const { length } of lines) {
    entries.push({ offset, length, prefixHash: 0 });
    offset += length + 1;
  }
  await writeFile(path(), `${lines.join('\n')}\n`);
});

const readAll = async (input: InputLines, order: readonly number[]) =>
  Promise.all(order.map(async index => (await input.read(entries[index]!)).toString()));

type Read = (bytes: Buffer, at: number, length: number, from: number) => Promise<object>;

/** Every read of a file goes through `read`, with the one that is real. */
async function readsThrough(read: (real: Read, ...args: Parameters<Read>) => Promise<object>) {
  const probe = await open(path());
  const prototype = Object.getPrototypeOf(probe) as FileHandle;
  await probe.close();
  const real = prototype.read as unknown as Read;
  return jest.spyOn(prototype, 'read').mockImplementation(function (
    this: FileHandle,
    ...args: unknown[]
  ) {
    return read(real.bind(this), ...(args as Parameters<Read>)) as never;
  });
}

describe('InputLines', () => {
  afterEach(() => {
    jest.restoreAllMocks();
  });

  it('reads 64 KiB at once, which serve all lines that are whole within', async () => {
    const reads = await readsThrough((real, ...args) => real(...args));
    await using input = await InputLines.open(path());
    const end = 64 * KIB;
    for (const [offset, length, count] of [
      [10, 5, 1],
      [10, 5, 1],
      [20, 5, 1],
      [end, 10, 1],
      [end, 11, 2],
      [end - 1, 1, 3],
      [end - 1, 1, 3],
      [0, 70 * KIB, 4],
      // A longer line takes nothing from the window.
      [end - 1, 1, 4],
    ] as const) {
      const line = await input.read({ offset, length, prefixHash: 0 });
      expect([line.length, reads.mock.calls.length]).toEqual([length, count]);
    }
  });

  it('reads on where the system gave less than was asked for', async () => {
    await readsThrough((real, bytes, at, length, from) =>
      real(bytes, at, Math.min(length, 1000), from),
    );
    await using input = await InputLines.open(path());
    for (const index of [1, 2]) expect(await readAll(input, [index])).toEqual([lines[index]]);
  });

  it('reads again after a failure', async () => {
    let reads = 0;
    await readsThrough((real, ...args) =>
      ++reads === 1 ? Promise.reject(new Error('disk')) : real(...args),
    );
    await using input = await InputLines.open(path());
    await expect(readAll(input, [0])).rejects.toThrow('disk');
    expect(await readAll(input, [0])).toEqual([lines[0]]);
  });

  it.each([
    ['as they follow each other', LENGTHS.map((_, index) => index)],
    ['backwards', LENGTHS.map((_, index) => LENGTHS.length - 1 - index)],
    ['to and fro, some twice', [9, 0, 8, 1, 8, 4, 4, 6, 2, 0]],
  ])('gives every line %s, at the same time and one by one', async (_, order) => {
    await using input = await InputLines.open(path());
    const wanted = order.map(index => lines[index]);
    expect(await readAll(input, order)).toEqual(wanted);
    for (const index of order)
      expect((await input.read(entries[index]!)).toString()).toBe(lines[index]);
  });

  it('reports a file that was cut short, for short lines and long ones, and gives those before', async () => {
    await using input = await InputLines.open(path());
    const { offset } = entries[4]!;
    await truncate(path(), offset + 10);
    for (const index of [4, 6, 9])
      await expect(input.read(entries[index]!)).rejects.toThrow(InputDamaged);
    const message = `ends ${63 * KIB - 10} bytes before the end of a line`;
    await expect(input.read(entries[4]!)).rejects.toThrow(message);
    expect((await input.read(entries[1]!)).toString()).toBe(lines[1]);
  });
});

describe('lineParts', () => {
  it('finds custom_id and body as bytes, whatever is around them', () => {
    const line = Buffer.from(
      '{"url":"/x", "body" : {"n": 12345678901234567890, "body":1} ,"custom_id":"\\u0061\\"b"}',
    );
    expect(lineParts(line).body.toString()).toBe('{"n": 12345678901234567890, "body":1}');
    expect(lineParts(line).customIdJson).toBe('"\\u0061\\"b"');
  });

  it.each([
    ['{"custom_id":"a"}', 'The input line has no body.'],
    ['{"body":{}}', 'The input line has no custom_id.'],
    ['{}', 'The input line has no custom_id.'],
  ])('finds that a line is damaged: %s', (line, message) => {
    expect(() => lineParts(Buffer.from(line))).toThrow(new InputDamaged(message));
  });
});

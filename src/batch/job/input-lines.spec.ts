import { truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
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

describe('InputLines', () => {
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
});

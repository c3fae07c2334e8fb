import { createReadStream } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { STORED_BOUNDS, parseBoundedJson } from '@switchyard/engine-api/bounded-json.js';
import { writeJson } from '@switchyard/engine-api/exact-numbers.js';
import { type BatchUsage } from '../../core/jobs/batch-job.js';
import { isAbsent, syncFolder } from '../../platform/storage/durable-files.js';
import { linesOf } from '../../platform/storage/line-splitter.js';
import { writeAtomically } from './job-folder.js';

/**
 * One line of the result log: `<plan index> <O|E> <usage> <output line>\n`; usage is `-`
 * or `in/out/cached/reasoning`.
 */
export interface ResultRecord {
  readonly index: number;
  /** O: output file, E: error file. */
  readonly kind: 'O' | 'E';
  readonly usage?: BatchUsage;
  /** The line of the output or error file, without a line break. */
  readonly line: string;
}

export const encodeRecord = ({ index, kind, usage, line }: ResultRecord): Buffer =>
  Buffer.from(`${index} ${kind} ${usage ? usageText(usage) : '-'} ${line}\n`);

const usageText = (usage: BatchUsage): string =>
  `${usage.inputTokens}/${usage.outputTokens}/${usage.cachedTokens}/${usage.reasoningTokens}`;

interface RecordHead extends Omit<ResultRecord, 'line'> {
  /** Offset of the output line in the record. */
  readonly lineStart: number;
}

const HEAD = /^(\d{1,10}) ([OE]) (?:-|(\d+)\/(\d+)\/(\d+)\/(\d+)) \{/;
/** Bounds index, kind and four numbers. */
const MAX_HEAD_BYTES = 120;

/** @param bytes without the line break. @returns undefined for a truncated record */
export function decodeHead(bytes: Buffer): RecordHead | undefined {
  const match = HEAD.exec(bytes.toString('latin1', 0, MAX_HEAD_BYTES));
  if (!match || bytes.at(-1) !== 0x7d) return undefined;
  const [head, index, kind, ...usage] = match;
  return {
    index: Number(index),
    kind: kind as ResultRecord['kind'],
    lineStart: head.length - 1,
    usage: usage[0] === undefined ? undefined : usageOf(usage.map(Number) as Numbers),
  };
}

type Numbers = [number, number, number, number];

const usageOf = ([
  inputTokens,
  outputTokens,
  cachedTokens,
  reasoningTokens,
]: Numbers): BatchUsage => ({
  inputTokens,
  outputTokens,
  cachedTokens,
  reasoningTokens,
});

/** A file of the result log and its number of valid bytes. */
interface Segment {
  /** `<epoch>-<opening>.log`, zero-padded so that names sort by age. */
  readonly name: string;
  readonly bytes: number;
}

const NAME = /^(\d{10}-\d{4})\.log$/;
const SEAL = /^(\d{10}-\d{4})\.seal$/;

/**
 * The result log has one file per opening, each with a single writer. Opening the log
 * again seals the older files: the seal stores their number of valid bytes. A
 * processor that lost its lease without knowing appends beyond the seal, where its
 * records are ignored (D-13).
 */
export async function openSegments(folder: string, epoch: number) {
  const names = await readdir(folder);
  const sealed = await sealedBefore(folder, names);
  const stem = nextStem(names, epoch);
  await writeAtomically(join(folder, `${stem}.seal`), writeJson({ segments: sealed }));
  await syncFolder(folder);
  const current = `${stem}.log`;
  return {
    folder,
    /** Name of the new file; the caller is its only writer. */
    current,
    /**
     * Valid records in the order of writing. @param written durable bytes of
     * the current file
     */
    async *records(written = 0): AsyncGenerator<{ head: RecordHead; bytes: Buffer }> {
      for (const { name, bytes } of [...sealed, { name: current, bytes: written }])
        for await (const { bytes: record } of recordsIn(join(folder, name), bytes))
          yield { head: decodeHead(record)!, bytes: record };
    },
  };
}

/** The segments of the newest seal, and the file that belongs to that seal. */
async function sealedBefore(folder: string, names: readonly string[]): Promise<readonly Segment[]> {
  const newest = names
    .filter(name => SEAL.test(name))
    .sort()
    .at(-1);
  if (newest === undefined) return [];
  const { segments } = parseBoundedJson(
    await readFile(join(folder, newest), 'utf8'),
    STORED_BOUNDS,
  ) as {
    segments: readonly Segment[];
  };
  const name = newest.replace(/seal$/, 'log');
  const bytes = await completeBytes(join(folder, name));
  return bytes === 0 ? segments : [...segments, { name, bytes }];
}

function nextStem(names: readonly string[], epoch: number): string {
  const prefix = String(epoch).padStart(10, '0');
  const stems = names.flatMap(name => (NAME.exec(name) ?? SEAL.exec(name))?.[1] ?? []);
  const last = stems
    .filter(stem => stem.startsWith(`${prefix}-`))
    .sort()
    .at(-1);
  return `${prefix}-${String(last ? Number(last.slice(-4)) + 1 : 0).padStart(4, '0')}`;
}

/** Bytes up to the end of the last complete record before the first truncated one. */
async function completeBytes(path: string): Promise<number> {
  let complete = 0;
  try {
    for await (const { end } of recordsIn(path)) complete = end;
  } catch (error) {
    if (!isAbsent(error)) throw error;
  }
  return complete;
}

/** @param bytes valid bytes of the file (undefined: up to the first incomplete record) */
async function* recordsIn(
  path: string,
  bytes?: number,
): AsyncGenerator<{ bytes: Buffer; end: number }> {
  if (bytes === 0) return;
  const stream = createReadStream(path, {
    highWaterMark: 262_144,
    end: bytes === undefined ? undefined : bytes - 1,
  });
  for await (const { offset, length, bytes: record, hasBreak } of linesOf(stream)) {
    if (!record || !decodeHead(record) || !hasBreak) return;
    yield { bytes: record, end: offset + length + 1 };
  }
}

import { constants, createReadStream } from 'node:fs';
import { type FileHandle, open, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { JobProgress } from './job-progress.js';
import { writeAll, isAbsent, syncFolder } from '../../platform/storage/durable-files.js';
import { type BatchUsage } from '../../core/jobs/batch-job.js';
import { linesOf } from '../../platform/storage/line-splitter.js';
import { writeAtomically } from './job-folder.js';

/** O: output file, E: error file. */
export type ResultKind = 'O' | 'E';

/**
 * One line of the result log: `<plan index> <O|E> <usage> <output line>\n`; usage is `-`
 * or `in/out/cached/reasoning`.
 */
export interface ResultRecord {
  readonly index: number;
  readonly kind: ResultKind;
  readonly usage?: BatchUsage;
  /** The line of the output or error file, without a line break. */
  readonly line: string;
}

export const encodeRecord = ({ index, kind, usage, line }: ResultRecord): Buffer =>
  Buffer.from(`${index} ${kind} ${usage ? usageText(usage) : '-'} ${line}\n`);

const usageText = (usage: BatchUsage): string =>
  `${usage.inputTokens}/${usage.outputTokens}/${usage.cachedTokens}/${usage.reasoningTokens}`;

interface RecordHead {
  readonly index: number;
  readonly kind: ResultKind;
  readonly usage?: BatchUsage;
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
    kind: kind as ResultKind,
    lineStart: head.length - 1,
    usage: usage[0] === undefined ? undefined : usageOf(usage.map(Number)),
  };
}

const usageOf = ([
  inputTokens = 0,
  outputTokens = 0,
  cachedTokens = 0,
  reasoningTokens = 0,
]: readonly number[]): BatchUsage => ({
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
class ResultSegments {
  private constructor(
    readonly folder: string,
    /** Name of the new file; the caller is its only writer. */
    readonly current: string,
    readonly sealed: readonly Segment[],
  ) {}

  static async open(folder: string, epoch: number): Promise<ResultSegments> {
    const names = await readdir(folder);
    const sealed = await sealedBefore(folder, names);
    const stem = nextStem(names, epoch);
    await writeAtomically(
      join(folder, `${stem}.seal`),
      JSON.stringify({ segments: sealed }),
    );
    await syncFolder(folder);
    return new ResultSegments(folder, `${stem}.log`, sealed);
  }

  /**
   * Valid records in the order of writing. @param written durable bytes of
   * the current file
   */
  async *records(written = 0): AsyncGenerator<{ head: RecordHead; bytes: Buffer }> {
    for (const { name, bytes } of [
      ...this.sealed,
      { name: this.current, bytes: written },
    ]) {
      for await (const { bytes: record } of recordsIn(join(this.folder, name), bytes)) {
        yield { head: decodeHead(record)!, bytes: record };
      }
    }
  }
}

/** The segments of the newest seal, and the file that belongs to that seal. */
async function sealedBefore(
  folder: string,
  names: readonly string[],
): Promise<readonly Segment[]> {
  const newest = names
    .filter(name => SEAL.test(name))
    .sort()
    .at(-1);
  if (newest === undefined) return [];
  const { segments } = JSON.parse(await readFile(join(folder, newest), 'utf8')) as {
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
  const ended = { size: 0 };
  for await (const line of linesOf(counted(stream, ended))) {
    const end = line.offset + line.length + 1;
    // A last line without a line break ends one byte after the file.
    if (!line.bytes || !decodeHead(line.bytes) || end > ended.size) return;
    yield { bytes: line.bytes, end };
  }
}

async function* counted(
  source: AsyncIterable<Buffer>,
  total: { size: number },
): AsyncGenerator<Buffer> {
  for await (const chunk of source) {
    total.size += chunk.length;
    yield chunk;
  }
}

/** A group is written when it is this large or this old. */
const GROUP_RECORDS = 64;

const GROUP_BYTES = 4 * 1_048_576;

const GROUP_MS = 50;

/** While more bytes than this wait for the disk, no further line of the job is sent. */
const MAX_PENDING_BYTES = 16 * 1_048_576;

const { O_WRONLY, O_CREAT, O_APPEND, O_DSYNC } = constants;

/**
 * A write returns when its bytes are on disk: one call per group instead of
 * write and fsync.
 */
const APPEND_SYNCED = O_WRONLY | O_CREAT | O_APPEND | O_DSYNC;

interface ResultLogEvents {
  /** Results became durable. */
  onDurable(): void;
  /** A write failed. Nothing is accepted any more; durable results stay. */
  onFailure(error: Error): void;
}

/**
 * Results that become durable together. They are encoded at once, so that no answer is
 * kept until the write ends.
 */
class Group {
  readonly heads: Omit<ResultRecord, 'line'>[] = [];
  /** Monotonic time of its oldest result. */
  readonly sinceMs = performance.now();
  readonly chunks: Buffer[] = [];
  bytes = 0;

  add(record: ResultRecord): void {
    const { line: _line, ...head } = record;
    const chunk = encodeRecord(record);
    this.heads.push(head);
    this.chunks.push(chunk);
    this.bytes += chunk.length;
  }

  get isFull(): boolean {
    return this.chunks.length >= GROUP_RECORDS || this.bytes >= GROUP_BYTES;
  }
}

/**
 * The durable record of execution (D-14). A result counts when its group is synced;
 * until then it may be computed again. There is one writer, and groups are written one
 * after the other.
 */
export class ResultLog {
  #file: FileHandle | undefined;
  #written = 0;
  /** The group that is being written. */
  #group: Group | undefined;
  #next: Group | undefined;
  #writing: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #failure: Error | undefined;
  #events: ResultLogEvents = { onDurable: () => undefined, onFailure: () => undefined };

  private constructor(
    readonly segments: ResultSegments,
    readonly progress: JobProgress,
  ) {}

  /** Seals earlier segments, drops a truncated tail and reads which lines are done. */
  static async open(folder: string, epoch: number, total: number): Promise<ResultLog> {
    const segments = await ResultSegments.open(folder, epoch);
    const progress = new JobProgress(total);
    for await (const { head } of segments.records()) progress.record(head);
    return new ResultLog(segments, progress);
  }

  listen(events: ResultLogEvents): void {
    this.#events = events;
  }

  get isBehind(): boolean {
    return (this.#group?.bytes ?? 0) + (this.#next?.bytes ?? 0) > MAX_PENDING_BYTES;
  }

  /** Monotonic time of the oldest result that is not durable yet. */
  get pendingSinceMs(): number | undefined {
    return (this.#group ?? this.#next)?.sinceMs;
  }

  /** Durable bytes of the current segment. */
  get writtenBytes(): number {
    return this.#written;
  }

  /** Queues a result; `onDurable` or `onFailure` follows. */
  append(record: ResultRecord): void {
    if (this.#failure) return;
    const group = (this.#next ??= new Group());
    group.add(record);
    if (group.isFull) this.#startWriting();
    else this.#timer ??= setTimeout(() => this.#startWriting(), GROUP_MS);
  }

  /** Resolves when all appended results are durable. @throws the disk's error */
  async flush(): Promise<void> {
    while (!this.#failure && (this.#next || this.#writing)) {
      this.#startWriting();
      await this.#writing;
    }
    if (this.#failure) throw this.#failure;
  }

  /** Output lines of one kind, each with its line break. Call `flush` first. */
  async *lines(kind: ResultKind): AsyncGenerator<Buffer> {
    for await (const { head, bytes } of this.segments.records(this.#written)) {
      if (head.kind === kind)
        yield Buffer.concat([bytes.subarray(head.lineStart), NEWLINE]);
    }
  }

  /** Drops results that are not durable yet; they are computed again. */
  async close(): Promise<void> {
    clearTimeout(this.#timer);
    this.#failure ??= new Error('the result log is closed');
    await this.#writing;
    await this.#file?.close();
    this.#file = undefined;
  }

  #startWriting(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#writing || !this.#next) return;
    this.#writing = this.#writeGroups()
      .catch((error: unknown) => this.#fail(error as Error))
      .finally(() => (this.#writing = undefined));
  }

  async #writeGroups(): Promise<void> {
    do {
      const group = (this.#group = this.#takeNext());
      await this.#write(group.chunks);
      this.#group = undefined;
      for (const head of group.heads) this.progress.record(head);
      this.#events.onDurable();
    } while (this.#isNextFull && !this.#failure);
    if (this.#next && !this.#failure)
      this.#timer ??= setTimeout(() => this.#startWriting(), GROUP_MS);
  }

  get #isNextFull(): boolean {
    return this.#next?.isFull ?? false;
  }

  #takeNext(): Group {
    const group = this.#next!;
    this.#next = undefined;
    return group;
  }

  async #write(chunks: readonly Buffer[]): Promise<void> {
    this.#file ??= await open(
      join(this.segments.folder, this.segments.current),
      APPEND_SYNCED,
      0o600,
    );
    const bytes = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks);
    await writeAll(this.#file, bytes);
    this.#written += bytes.byteLength;
  }

  #fail(error: Error): void {
    this.#failure = error;
    this.#group = undefined;
    this.#next = undefined;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#events.onFailure(error);
  }
}

const NEWLINE = Buffer.from('\n');

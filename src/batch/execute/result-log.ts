import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { writeAll } from '../ingest/draft-file.js';
import { JobProgress } from './job-progress.js';
import { encodeRecord, type ResultKind, type ResultRecord } from './result-record.js';
import { ResultSegments } from './result-segments.js';

/** A group is written and synced when it is this large, or this old (BATCH decision: a checkpoint interval). */
const GROUP_RECORDS = 64;
const GROUP_BYTES = 4 * 1_048_576;
const GROUP_MS = 50;
/** More than this waiting for the disk: no further line is sent for this job. */
const BEHIND_BYTES = 16 * 1_048_576;

interface Waiting {
  readonly record: Omit<ResultRecord, 'line'>;
  readonly bytes: Buffer;
  readonly sinceMs: number;
}

export interface ResultLogEvents {
  /** Results became durable. */
  onDurable(records: readonly Omit<ResultRecord, 'line'>[]): void;
  /** The disk refused; nothing is taken from here on, and what was durable stays. */
  onFailure(error: Error): void;
}

/**
 * The one durable record of execution (D-14). A result counts when its group is synced; until then it may be computed again.
 * One writer; groups go out one after the other.
 */
export class ResultLog {
  #file: FileHandle | undefined;
  #written = 0;
  #waiting: Waiting[] = [];
  /** Being written. */
  #group: readonly Waiting[] = [];
  #waitingBytes = 0;
  #writing: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #failure: Error | undefined;
  #events: ResultLogEvents = { onDurable: () => undefined, onFailure: () => undefined };

  private constructor(
    readonly segments: ResultSegments,
    readonly progress: JobProgress,
  ) {}

  /** Seals what is there, repairs a torn tail, and learns what is done. */
  static async open(folder: string, epoch: number, total: number): Promise<ResultLog> {
    const segments = await ResultSegments.open(folder, epoch);
    const progress = new JobProgress(total);
    for await (const { head } of segments.records()) progress.record(head);
    return new ResultLog(segments, progress);
  }

  listen(events: ResultLogEvents): void {
    this.#events = events;
  }

  get failure(): Error | undefined {
    return this.#failure;
  }

  get isBehind(): boolean {
    return this.#waitingBytes > BEHIND_BYTES;
  }

  /** Monotonic instant of the oldest result that is not durable yet; undefined: all are. */
  get waitingSinceMs(): number | undefined {
    return this.#group[0]?.sinceMs ?? this.#waiting[0]?.sinceMs;
  }

  /** Durable bytes of the current segment. */
  get writtenBytes(): number {
    return this.#written;
  }

  /** Returns at once; `onDurable` or `onFailure` tells the rest. */
  append(record: ResultRecord): void {
    if (this.#failure) return;
    const bytes = encodeRecord(record);
    const { line: _line, ...head } = record;
    this.#waiting.push({ record: head, bytes, sinceMs: performance.now() });
    this.#waitingBytes += bytes.length;
    if (this.#waiting.length >= GROUP_RECORDS || this.#waitingBytes >= GROUP_BYTES) this.#startWriting();
    else this.#timer ??= setTimeout(() => this.#startWriting(), GROUP_MS);
  }

  /** Resolves when everything appended so far is durable. @throws the disk's error */
  async flush(): Promise<void> {
    while (!this.#failure && (this.#waiting.length > 0 || this.#writing)) {
      this.#startWriting();
      await this.#writing;
    }
    if (this.#failure) throw this.#failure;
  }

  /** Output lines of one kind, each with its line break. After `flush`. */
  async *lines(kind: ResultKind): AsyncGenerator<Buffer> {
    for await (const { head, bytes } of this.segments.records(this.#written)) {
      if (head.kind === kind) yield Buffer.concat([bytes.subarray(head.lineStart), NEWLINE]);
    }
  }

  /** What is not durable by now is lost, and computed again by whoever continues. */
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
    if (this.#writing || this.#waiting.length === 0) return;
    this.#writing = this.#writeGroups()
      .catch((error: unknown) => this.#fail(error as Error))
      .finally(() => (this.#writing = undefined));
  }

  async #writeGroups(): Promise<void> {
    while (this.#waiting.length > 0 && !this.#failure) {
      const group = (this.#group = this.#waiting);
      this.#waiting = [];
      await this.#write(group.map(({ bytes }) => bytes));
      this.#waitingBytes -= group.reduce((sum, { bytes }) => sum + bytes.length, 0);
      this.#group = [];
      for (const { record } of group) this.progress.record(record);
      this.#events.onDurable(group.map(({ record }) => record));
      if (this.#waiting.length < GROUP_RECORDS) break;
    }
    if (this.#waiting.length > 0 && !this.#failure) this.#timer ??= setTimeout(() => this.#startWriting(), GROUP_MS);
  }

  async #write(chunks: readonly Buffer[]): Promise<void> {
    this.#file ??= await open(join(this.segments.folder, this.segments.current), 'a', 0o600);
    const bytes = await writeAll(this.#file, chunks);
    await this.#file.datasync();
    this.#written += bytes;
  }

  #fail(error: Error): void {
    this.#failure = error;
    this.#waiting = [];
    this.#group = [];
    this.#waitingBytes = 0;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#events.onFailure(error);
  }
}

const NEWLINE = Buffer.from('\n');

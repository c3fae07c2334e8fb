import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { writeAll } from '../../platform/storage/durable-files.js';
import { JobProgress } from './job-progress.js';
import { encodeRecord, type ResultRecord, openSegments } from './result-segments.js';

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
    readonly segments: Awaited<ReturnType<typeof openSegments>>,
    readonly progress: JobProgress,
  ) {}

  /** Seals earlier segments, drops a truncated tail and reads which lines are done. */
  static async open(folder: string, epoch: number, total: number): Promise<ResultLog> {
    const segments = await openSegments(folder, epoch);
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
    (this.#next ??= new Group()).add(record);
    this.#schedule();
  }

  /** Resolves when all appended results are durable. @throws the disk's error */
  async flush(): Promise<void> {
    while (!this.#failure && (this.#next || this.#group)) {
      this.#writeNext();
      await this.#writing;
    }
    if (this.#failure) throw this.#failure;
  }

  /** Output lines of one kind, each with its line break. Call `flush` first. */
  async *lines(kind: ResultRecord['kind']): AsyncGenerator<Buffer> {
    for await (const { head, bytes } of this.segments.records(this.#written)) {
      if (head.kind === kind) yield Buffer.concat([bytes.subarray(head.lineStart), NEWLINE]);
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

  #schedule(): void {
    if (this.#failure || !this.#next) return;
    if (this.#next.isFull) this.#writeNext();
    else this.#timer ??= setTimeout(() => this.#writeNext(), GROUP_MS);
  }

  #writeNext(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#group || !this.#next) return;
    const group = (this.#group = this.#next);
    this.#next = undefined;
    this.#writing = this.#write(group).catch((error: unknown) => {
      this.#failure = error as Error;
      this.#group = undefined;
      this.#next = undefined;
      clearTimeout(this.#timer);
      this.#events.onFailure(this.#failure);
    });
  }

  async #write({ chunks, heads }: Group): Promise<void> {
    this.#file ??= await open(
      join(this.segments.folder, this.segments.current),
      APPEND_SYNCED,
      0o600,
    );
    const bytes = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks);
    await writeAll(this.#file, bytes);
    this.#written += bytes.byteLength;
    this.#group = undefined;
    for (const head of heads) this.progress.record(head);
    this.#events.onDurable();
    this.#schedule();
  }
}

const NEWLINE = Buffer.from('\n');

import { write, writeSync } from 'node:fs';
import { type DestinationStream } from 'pino';

/** Of lines that a reader has not taken yet; later ones are dropped and counted. */
const MAX_WAITING_CHARS = 8 * 1024 * 1024;
const MAX_WRITE_CHARS = 64 * 1024;
const RETRY_MS = 100;
/** Milliseconds that an exit waits at most for a slow reader. */
const EXIT_LIMIT_MS = 500;

/**
 * Where log lines go. They are written asynchronously: a reader that does not read costs
 * lines, never the process, and one that is gone (EPIPE) ends logging. At exit the rest
 * is written, but never for longer than half a second: pino's own destination
 * (sonic-boom 4.2.1) retries a failed write at exit for ever, and keeps an orphaned
 * worker alive with it.
 */
export class LogOutput implements DestinationStream {
  #lines: string[] = [];
  #chars = 0;
  #dropped = 0;
  /** Also while a write is tried again in a moment. */
  #isWriting = false;
  #isBroken = false;

  constructor(
    /** The part of `node:fs` that is used here. */
    private readonly file: {
      write(
        data: Buffer,
        done: (error: NodeJS.ErrnoException | null, written: number) => void,
      ): void;
      writeSync(data: Buffer): number;
    },
  ) {}

  write(line: string): void {
    if (this.#isBroken) return;
    if (this.#chars + line.length > MAX_WAITING_CHARS) return void (this.#dropped += 1);
    this.#lines.push(line);
    this.#chars += line.length;
    if (!this.#isWriting) this.#write(this.#take());
  }

  /** What waits, as far as it can be written now. pino calls it before a fatal end. */
  flushSync(): void {
    const endMs = performance.now() + EXIT_LIMIT_MS;
    for (let data = this.#take(); data.length > 0 && !this.#isBroken;) {
      try {
        data = data.subarray(this.file.writeSync(data));
        if (data.length === 0) data = this.#take();
      } catch (error) {
        if (!isBusy(error) || performance.now() > endMs) return this.#break();
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, RETRY_MS / 10);
      }
    }
  }

  #write(data: Buffer) {
    this.#isWriting = data.length > 0;
    if (!this.#isWriting) return;
    this.file.write(data, (error, written) => {
      if (error && !isBusy(error)) this.#break();
      else if (error) setTimeout(() => this.#write(data), RETRY_MS).unref();
      else this.#write(written < data.length ? data.subarray(written) : this.#take());
    });
  }

  /** Empty: nothing waits. */
  #take(): Buffer {
    let [count, chars] = [0, 0];
    while (count < this.#lines.length && chars < MAX_WRITE_CHARS)
      chars += this.#lines[count++]!.length;
    const text = this.#lines.splice(0, count).join('');
    this.#chars -= chars;
    if (this.#lines.length > 0 || this.#dropped === 0) return Buffer.from(text);
    const note = droppedLine(this.#dropped);
    this.#dropped = 0;
    return Buffer.from(text + note);
  }

  #break() {
    this.#isBroken = true;
    this.#lines = [];
    this.#chars = 0;
  }
}

const droppedLine = (lines: number) => {
  const msg = `${lines} log lines were dropped: standard output was not read in time.`;
  return `${JSON.stringify({ level: 40, time: Date.now(), pid: process.pid, msg })}\n`;
};

const isBusy = (error: unknown) => {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'EAGAIN' || code === 'EBUSY';
};

const STDOUT = 1;
let standard: LogOutput | undefined;

/**
 * The one of this process on standard output. Flushed first of all when
 * the process exits.
 */
export function standardOutput(): LogOutput {
  if (standard) return standard;
  const output = new LogOutput({
    write: (data, done) => write(STDOUT, data, done),
    writeSync: data => writeSync(STDOUT, data),
  });
  process.prependListener('exit', () => output.flushSync());
  return (standard = output);
}

import { Readable } from 'node:stream';
import { type Logger } from '@nestjs/common';
import { type Observable, Subject, type Subscription } from 'rxjs';

export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

interface LogLine {
  /** Unix seconds, with milliseconds. */
  readonly at: number;
  readonly level: LogLevel;
  readonly text: string;
}

/** Of one line; the rest is cut off. */
const MAX_LINE_CHARS = 2048;

const isAtLeast = (line: LogLine, level: LogLevel) =>
  LOG_LEVELS.indexOf(line.level) >= LOG_LEVELS.indexOf(level);

/** Every pino line has these; they are shown apart or say nothing here. */
const APART = new Set(['level', 'time', 'pid', 'hostname', 'v', 'role', 'msg']);

/** A record that pino wrote, here or in another process. Undefined: it is other text. */
function readRecord(line: string) {
  if (!line.startsWith('{')) return undefined;
  try {
    const record = JSON.parse(line) as Record<string, unknown>;
    const { level, time, msg } = record;
    const further = Object.entries(record).filter(([name]) => !APART.has(name));
    return {
      at: (typeof time === 'number' ? time : Date.now()) / 1000,
      // pino's numbers are ten apart, beginning at 10.
      level: LOG_LEVELS[Number(level) / 10 - 1] ?? 'info',
      message: typeof msg === 'string' ? msg : '',
      fields: Object.fromEntries(further),
    };
  } catch {
    return undefined;
  }
}

/** Message and further fields of a log record as one text. */
function logText(message: string, fields: object): string {
  const detail = Object.keys(fields).length === 0 ? '' : ` ${JSON.stringify(fields)}`;
  return (message + detail).trimStart().slice(0, MAX_LINE_CHARS);
}

/** A line that pino wrote. */
function pinoLine(line: string): LogLine {
  const record = readRecord(line);
  if (record) {
    const { at, level, message, fields } = record;
    return { at, level, text: logText(message, fields) };
  }
  const text = line.trimEnd().slice(0, MAX_LINE_CHARS);
  return { at: Date.now() / 1000, level: 'info', text };
}

/** The newest lines of a log, in bounded memory, and those that follow. */
export class LogRing {
  readonly #kept: (LogLine | string)[] = [];
  readonly #added = new Subject<LogLine>();

  /** Synchronous: a subscriber must not block. */
  readonly added$: Observable<LogLine> = this.#added.asObservable();

  constructor(private readonly size: number) {}

  /**
   * @param line as text: one of pino. It is parsed when it is read: writing a log must
   *   stay cheap.
   */
  add(line: LogLine | string): void {
    let kept = line;
    if (typeof line !== 'string') kept = { ...line, text: line.text.slice(0, MAX_LINE_CHARS) };
    else if (this.#added.observed || line.length > 2 * MAX_LINE_CHARS) kept = pinoLine(line);
    this.#kept.push(kept);
    if (this.#kept.length > this.size) this.#kept.shift();
    if (typeof kept !== 'string') this.#added.next(kept);
  }

  /** The last `count` of at least that level, oldest first. */
  last(count: number, level: LogLevel = 'trace'): LogLine[] {
    const found: LogLine[] = [];
    // From the end, so that no more lines are parsed than are asked for.
    for (let at = this.#kept.length - 1; at >= 0 && found.length < count; at--) {
      const kept = this.#kept[at]!;
      const line = typeof kept === 'string' ? pinoLine(kept) : kept;
      if (isAtLeast(line, level)) found.push(line);
    }
    return found.reverse();
  }
}

const METHOD = {
  trace: 'verbose',
  debug: 'debug',
  info: 'log',
  warn: 'warn',
  error: 'error',
  fatal: 'fatal',
} as const satisfies Record<LogLevel, keyof Logger>;

const KEPT_LINES = 500;

/**
 * Writes the lines of a child process into this process's log, each with the child's
 * name under `key`.
 */
export class ProcessLog {
  /** The last ones, whatever this process's own log lets pass. */
  readonly recent = new LogRing(KEPT_LINES);

  constructor(
    private readonly target: Logger,
    private readonly name: string,
    private readonly key = 'worker',
  ) {}

  /**
   * A line that is no JSON object, such as a crash report or a native library's message,
   * is logged as text.
   */
  line(stream: 'stdout' | 'stderr', line: string): void {
    const record = readRecord(line);
    if (!record) return this.say(levelIn(line), line, { stream });
    this.say(record.level, record.message, record.fields);
  }

  /** Also what the supervisor itself reports about the process. */
  say(level: LogLevel, message: string, fields: object = {}): void {
    this.recent.add({ at: Date.now() / 1000, level, text: logText(message, fields) });
    this.target[METHOD[level]]({ ...fields, [this.key]: this.name }, message);
  }
}

/** By what a line says: many programs write all of their log to stderr. */
function levelIn(line: string): LogLevel {
  if (/error\b|\b(fatal|critical|panic|traceback|exception|fault)\b/i.test(line)) return 'error';
  return /\bwarn(ing)?\b/i.test(line) ? 'warn' : 'info';
}

/** Lines that wait for a reader; further ones are dropped and counted. */
const MAX_WAITING = 1000;
/** Keeps proxies from closing a quiet stream. */
const KEEP_ALIVE_MS = 15_000;

/**
 * A log as server-sent events: lines that are kept, then new ones. A slow reader loses
 * lines and is told how many.
 */
export class LogFollower extends Readable {
  readonly #waiting: string[] = [];
  readonly #lines: Subscription;
  readonly #keepAlive: NodeJS.Timeout;
  #dropped = 0;
  #isAsked = false;

  constructor(ring: LogRing, options: { readonly lines: number; readonly level: LogLevel }) {
    super({ highWaterMark: 64 * 1024 });
    for (const line of ring.last(options.lines, options.level)) this.#waiting.push(eventOf(line));
    this.#lines = ring.added$.subscribe(line => {
      if (isAtLeast(line, options.level)) this.#add(line);
    });
    this.#keepAlive = setInterval(
      () => this.#isAsked && this.push(': keep-alive\n\n'),
      KEEP_ALIVE_MS,
    ).unref();
  }

  override _read(): void {
    this.#isAsked = true;
    this.#send();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#lines.unsubscribe();
    clearInterval(this.#keepAlive);
    done(error);
  }

  #add(line: LogLine) {
    if (this.#waiting.length >= MAX_WAITING) this.#dropped += 1;
    else this.#waiting.push(eventOf(line));
    this.#send();
  }

  #send() {
    while (this.#isAsked && this.#waiting.length > 0)
      this.#isAsked = this.push(this.#waiting.shift());
    if (!this.#isAsked || this.#dropped === 0) return;
    const text = `${this.#dropped} log lines were dropped: this stream is not read fast enough.`;
    this.#dropped = 0;
    this.#isAsked = this.push(eventOf({ at: Date.now() / 1000, level: 'warn', text }));
  }
}

const eventOf = (line: LogLine) => `data: ${JSON.stringify(line)}\n\n`;

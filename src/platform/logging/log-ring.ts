import { Subject } from 'rxjs';

export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const;

export type LogLevel = (typeof LOG_LEVELS)[number];

export interface LogLine {
  /** Unix seconds, with milliseconds. */
  readonly at: number;
  readonly level: LogLevel;
  readonly text: string;
}

/** Of one line; the rest is cut off. */
const MAX_LINE_CHARS = 2048;

export const isAtLeast = (line: LogLine, level: LogLevel) =>
  LOG_LEVELS.indexOf(line.level) >= LOG_LEVELS.indexOf(level);

/** Every pino line has these; they are shown apart or say nothing here. */
const APART = new Set(['level', 'time', 'pid', 'hostname', 'v', 'role', 'msg']);

/** A record that pino wrote, here or in another process. Undefined: it is other text. */
export function readRecord(line: string) {
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
export function logText(message: string, fields: object): string {
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
  readonly added$ = this.#added.asObservable();

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

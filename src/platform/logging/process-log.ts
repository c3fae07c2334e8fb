import { type Logger } from '@nestjs/common';
import { type LogLevel, readRecord, logText, LogRing } from './log-ring.js';

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
  /** The last lines at all levels, also those below this process's own log level. */
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

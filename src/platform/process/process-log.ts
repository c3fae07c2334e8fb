import { type Logger } from '@nestjs/common';
import {
  furtherFields,
  levelOf,
  type LogLevel,
  LogRing,
  logText,
} from '../logging/log-ring.js';

export type LogTarget = Pick<
  Logger,
  'verbose' | 'debug' | 'log' | 'warn' | 'error' | 'fatal'
>;

const METHOD: Readonly<Record<LogLevel, keyof LogTarget>> = {
  trace: 'verbose',
  debug: 'debug',
  info: 'log',
  warn: 'warn',
  error: 'error',
  fatal: 'fatal',
};

const KEPT_LINES = 500;

/**
 * Writes the lines of a child process into this process's log, each with the child's
 * name under `key`.
 */
export class ProcessLog {
  /** The last ones, whatever this process's own log lets pass. */
  readonly recent = new LogRing(KEPT_LINES);

  constructor(
    private readonly target: LogTarget,
    private readonly name: string,
    private readonly key = 'worker',
  ) {}

  /**
   * A line that is no JSON object, such as a crash report or a native library's message,
   * is logged as text.
   */
  line(stream: 'stdout' | 'stderr', line: string): void {
    const record = parse(line);
    if (!record) return this.say(levelIn(line), line, { stream });
    this.say(
      levelOf(record.level),
      typeof record.msg === 'string' ? record.msg : '',
      furtherFields(record),
    );
  }

  /** Also what the supervisor itself reports about the process. */
  say(level: LogLevel, message: string, fields: object = {}): void {
    this.recent.add({ at: Date.now() / 1000, level, text: logText(message, fields) });
    this.target[METHOD[level]]({ ...fields, [this.key]: this.name }, message);
  }
}

/** By what a line says: many programs write all of their log to stderr. */
function levelIn(line: string): LogLevel {
  if (/error\b|\b(fatal|critical|panic|traceback|exception|fault)\b/i.test(line))
    return 'error';
  return /\bwarn(ing)?\b/i.test(line) ? 'warn' : 'info';
}

function parse(line: string): Record<string, unknown> | undefined {
  if (!line.startsWith('{')) return undefined;
  try {
    return JSON.parse(line) as Record<string, unknown>;
  } catch {
    return undefined;
  }
}

import { stderr, stdout } from 'node:process';
import { createInterface } from 'node:readline/promises';
import { writeJson } from '@switchyard/engine-api/exact-numbers.js';
import { CliError, usageError } from './cli-error.js';

/**
 * Results go to stdout, everything for people to stderr: `switchyard … > file` and `| jq`
 * get the result only. Marks appear in both, so colours need both to be a terminal;
 * `hasColors` honours NO_COLOR.
 */
const colours = stdout.isTTY && stderr.isTTY && stderr.hasColors();
const paint = (code: string, text: string) => (colours ? `\u001b[${code}m${text}\u001b[0m` : text);

const listeners: ((text: string) => void)[] = [];
/** Calls `listener` with each line that `say` writes from now on. */
export const onSay = (listener: (text: string) => void): void => void listeners.push(listener);

export function say(text: string): void {
  stderr.write(`${text}\n`);
  for (const listener of listeners) listener(text);
}
export const print = (text: string): void => void stdout.write(`${text}\n`);
export const printJson = (value: unknown): void => print(writeJson(value, 2));

export const MARKS = {
  ok: paint('32', '✓'),
  warn: paint('33', '!'),
  fail: paint('31', '✗'),
} as const;
export const dim = (text: string): string => paint('2', text);

/** A cell of a table; unknown or missing values are a dash. */
type Cell = string | number | boolean | null | undefined;

/** A row for each item below the head; `none` where there is no item. */
export const table = <T>(
  head: readonly string[],
  items: readonly T[],
  cellsOf: (item: T) => readonly Cell[],
  none?: string,
): string => (none && items.length === 0 ? none : columns([head, ...items.map(cellsOf)]));

/** Columns as wide as their widest cell. */
export function columns(cells: readonly (readonly Cell[])[]): string {
  const rows = cells.map(row => row.map(cell => String(cell ?? '-')));
  const widths = rows.reduce<number[]>((most, row) => {
    row.forEach((cell, index) => (most[index] = Math.max(most[index] ?? 0, cell.length)));
    return most;
  }, []);
  const line = (row: readonly string[]) =>
    row.map((cell, index) => cell.padEnd(widths[index] ?? 0)).join('  ');
  return rows.map(row => line(row).trimEnd()).join('\n');
}

/**
 * One line on stderr that is overwritten while it changes; on anything but a terminal,
 * one line per change.
 */
export class ProgressLine implements Disposable {
  #last = '';

  show(text: string): void {
    if (text === this.#last) return;
    this.#last = text;
    stderr.write(stderr.isTTY ? `\r\u001b[K${text}` : `${text}\n`);
  }

  /** Removes the line of progress; to be called before anything else is written. */
  clear(): void {
    if (this.#last !== '' && stderr.isTTY) stderr.write('\r\u001b[K');
    this.#last = '';
  }

  [Symbol.dispose](): void {
    this.clear();
  }
}

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];

/** Bytes as text, such as `1.4 GiB`. */
export function byteText(bytes: number): string {
  const power = bytes < 1 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log2(bytes) / 10));
  return `${power === 0 ? bytes : (bytes / 1024 ** power).toFixed(1)} ${UNITS[power]}`;
}

/** 45 s, 12 min 5 s, 3 h 20 min; a dash while unknown. */
export function durationText(seconds: number | null): string {
  if (seconds === null) return '-';
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor((seconds % 3600) / 60)];
  if (hours > 0) return `${hours} h ${minutes} min`;
  return minutes > 0 ? `${minutes} min ${seconds % 60} s` : `${seconds} s`;
}

/** 0.4 ms, 12 ms, 1.25 s, 12 min 5 s; a dash while unknown. */
export function msText(ms: number | null | undefined): string {
  if (ms === undefined || ms === null) return '-';
  if (ms >= 60_000) return durationText(Math.round(ms / 1000));
  return ms >= 1000
    ? `${(ms / 1000).toFixed(2)} s`
    : `${ms >= 10 ? Math.round(ms) : Number(ms.toFixed(1))} ms`;
}

/** Asks on the terminal. */
export async function ask(question: string): Promise<boolean> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const answer = await terminal.question(`${question} [y/N] `);
    return /^y(es)?$/i.test(answer.trim());
  } finally {
    terminal.close();
  }
}

/**
 * Asks on the terminal. @throws CliError for any answer but yes (`refused`), and
 * without a terminal
 */
export async function confirm(question: string, refused: string): Promise<void> {
  if (!process.stdin.isTTY) throw usageError('not a terminal; pass --yes');
  if (!(await ask(question))) throw new CliError(refused);
}

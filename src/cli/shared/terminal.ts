import { stderr, stdout } from 'node:process';

/**
 * Results go to stdout, everything for people to stderr: `switchyard … > file` and `| jq`
 * get the result only. Marks appear in both, so colours need both to be a terminal;
 * `hasColors` honours NO_COLOR.
 */
const colours = stdout.isTTY && stderr.isTTY && stderr.hasColors();
const paint = (code: string, text: string): string =>
  colours ? `\u001b[${code}m${text}\u001b[0m` : text;

const listeners: ((text: string) => void)[] = [];
/** Hears each line that is said from now on. */
export const onSay = (listener: (text: string) => void): void =>
  void listeners.push(listener);

export function say(text: string): void {
  stderr.write(`${text}\n`);
  for (const listener of listeners) listener(text);
}
export const print = (text: string): void => void stdout.write(`${text}\n`);
export const printJson = (value: unknown): void => print(JSON.stringify(value, null, 2));

export const MARKS = {
  ok: paint('32', '✓'),
  warn: paint('33', '!'),
  fail: paint('31', '✗'),
} as const;
export const dim = (text: string): string => paint('2', text);

/** Columns as wide as their widest cell. */
export function columns(rows: readonly (readonly string[])[]): string {
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
export class ProgressLine {
  #last = '';

  show(text: string): void {
    if (text === this.#last) return;
    this.#last = text;
    stderr.write(stderr.isTTY ? `\r\u001b[K${text}` : `${text}\n`);
  }

  /** Before anything else is written. */
  clear(): void {
    if (this.#last !== '' && stderr.isTTY) stderr.write('\r\u001b[K');
    this.#last = '';
  }
}

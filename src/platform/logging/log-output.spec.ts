import { describe, expect, it } from '@jest/globals';
import { LogOutput } from './log-output.js';

type LogFile = ConstructorParameters<typeof LogOutput>[0];

const failure = (code: string): NodeJS.ErrnoException => Object.assign(new Error(code), { code });

/** Each asynchronous write is held until it is answered. */
class HeldFile implements LogFile {
  readonly asked: string[] = [];
  readonly synced: string[] = [];
  syncAttempts = 0;
  syncFailure: NodeJS.ErrnoException | undefined;
  #done: ((error: NodeJS.ErrnoException | null, written: number) => void) | undefined;

  write(data: Buffer, done: (error: NodeJS.ErrnoException | null, written: number) => void): void {
    this.asked.push(data.toString());
    this.#done = done;
  }

  writeSync(data: Buffer): number {
    this.syncAttempts += 1;
    if (this.syncFailure) throw this.syncFailure;
    this.synced.push(data.toString());
    return data.length;
  }

  answer(error: NodeJS.ErrnoException | null, written = this.asked.at(-1)!.length): void {
    this.#done?.(error, written);
  }
}

function held(): { file: HeldFile; output: LogOutput } {
  const file = new HeldFile();
  return { file, output: new LogOutput(file) };
}

describe('LogOutput', () => {
  it('writes one piece at a time, in order, the rest of a short write first', () => {
    const { file, output } = held();
    for (const line of ['one\n', 'two\n', 'three\n']) output.write(line);
    file.answer(null, 2);
    file.answer(null);
    file.answer(null);
    expect(file.asked).toEqual(['one\n', 'e\n', 'two\nthree\n']);
  });

  it('ends with EPIPE: nothing is written any more, not even at exit', () => {
    const { file, output } = held();
    output.write('one\n');
    output.write('two\n');
    file.answer(failure('EPIPE'));
    output.write('three\n');
    output.flushSync();
    expect([file.asked, file.synced]).toEqual([['one\n'], []]);
  });

  it('gives up at the first EPIPE of an exit while a write is under way', () => {
    const { file, output } = held();
    file.syncFailure = failure('EPIPE');
    output.write('one\n');
    output.write('two\n');
    output.flushSync();
    output.flushSync();
    expect(file.syncAttempts).toBe(1);
  });

  it('gives up at exit on a reader that stays busy', () => {
    const { file, output } = held();
    file.syncFailure = failure('EAGAIN');
    output.write('one\n');
    output.write('two\n');
    output.flushSync();
    expect(file.syncAttempts).toBeGreaterThan(1);
  });

  it('writes at exit what waits', () => {
    const { file, output } = held();
    for (const line of ['one\n', 'two\n', 'three\n']) output.write(line);
    output.flushSync();
    expect(file.synced).toEqual(['two\nthree\n']);
  });

  it('drops lines beyond 8 Mi characters that are not read, and says how many', () => {
    const { file, output } = held();
    const line = `${'x'.repeat(1024 * 1024 - 1)}\n`;
    for (let count = 0; count < 12; count += 1) output.write(line);
    for (let count = 0; count < 9; count += 1) file.answer(null);
    const [last] = file.asked.slice(-1);
    expect(JSON.parse(last!.split('\n').at(-2)!)).toMatchObject({
      level: 40,
      msg: expect.stringContaining('3 log lines'),
    });
    expect(file.asked.join('').split(line)).toHaveLength(10);
  });
});

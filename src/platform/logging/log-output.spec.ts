import { describe, expect, it, jest } from '@jest/globals';
import { LogOutput, standardOutput } from './log-output.js';

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

  it('takes 8 Mi characters that wait, and not one more', () => {
    const waits = (last: number) => {
      const { file, output } = held();
      output.write('first\n');
      output.write('x'.repeat(8 * 1024 * 1024 - last));
      output.write('y'.repeat(last));
      output.write('z');
      output.flushSync();
      return file.synced.join('');
    };
    expect(waits(1)).toMatch(/xy\{.*1 log lines/);
    expect(waits(0)).toMatch(/x\{.*1 log lines/);
  });

  it('writes 64 Ki characters at once, and no empty piece', () => {
    const { file, output } = held();
    output.flushSync();
    output.write('first\n');
    const [half, rest] = ['x'.repeat(32 * 1024), 'y'];
    for (const line of [half, half, rest]) output.write(line);
    file.answer(null);
    file.answer(null);
    file.answer(null);
    output.write('last\n');
    expect(file.asked.map(({ length }) => length)).toEqual([6, 65_536, 1, 5]);
    expect(file.syncAttempts).toBe(0);
  });

  it.each(['EAGAIN', 'EBUSY'])('writes again 100 ms after %s, which may be for ever', code => {
    jest.useFakeTimers();
    const { file, output } = held();
    output.write('one\n');
    for (let times = 1; times < 4; times += 1) {
      file.answer(failure(code));
      output.write('more\n');
      jest.advanceTimersByTime(99);
      expect(file.asked).toHaveLength(times);
      jest.advanceTimersByTime(1);
      expect(file.asked).toHaveLength(times + 1);
    }
    file.answer(null);
    expect(file.asked.slice(-2)).toEqual(['one\n', 'more\nmore\nmore\n']);
    jest.useRealTimers();
  });

  it('writes at exit the rest of what the system did not take at once, and after it was busy', () => {
    const { file, output } = held();
    const pieces: string[] = [];
    file.writeSync = data => {
      pieces.push(data.toString());
      if (pieces.length === 1) throw failure('EAGAIN');
      return Math.min(2, data.length);
    };
    output.write('one\n');
    output.write('two\n');
    output.flushSync();
    output.flushSync();
    expect(pieces).toEqual(['two\n', 'two\n', 'o\n']);
    output.write('three\n');
    file.answer(null);
    expect(file.asked).toEqual(['one\n', 'three\n']);
  });

  it('of the process is one, and the first thing to end', () => {
    const before = process.listeners('exit');
    const output = standardOutput();
    const listeners = process.listeners('exit');
    // One that was made before, by another spec, has its listener already.
    const added = listeners.slice(0, listeners.length - before.length);
    expect(listeners).toEqual([...added, ...before]);
    expect(added.length).toBeLessThan(2);
    expect(standardOutput()).toBe(output);
    for (const listener of added) process.off('exit', listener as () => void);
  });
});

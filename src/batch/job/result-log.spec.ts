import { appendFileSync, readdirSync, rmSync } from 'node:fs';
import { open as openFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { temporaryFolder } from '../../../test/support/temporary-folder.js';
import { ResultLog } from './result-log.js';
import { encodeRecord } from './result-segments.js';

const usage = { inputTokens: 3, outputTokens: 2, cachedTokens: 1, reasoningTokens: 0 };
const result = (index: number, kind: 'O' | 'E' = 'O') => ({
  index,
  kind,
  usage,
  line: `{"custom_id":"${index}"}`,
});

describe('the result log', () => {
  let folder: string;
  beforeEach(() => {
    folder = temporaryFolder();
  });
  afterEach(() => {
    jest.restoreAllMocks();
    jest.useRealTimers();
  });

  const open = (epoch: number): Promise<ResultLog> => ResultLog.open(folder, epoch, 10);
  async function linesOf(log: ResultLog, kind: 'O' | 'E') {
    let text = '';
    for await (const line of log.lines(kind)) text += line.toString();
    return text;
  }
  const newestLog = () =>
    join(
      folder,
      readdirSync(folder)
        .filter(name => name.endsWith('.log'))
        .sort()
        .at(-1)!,
    );

  it('counts a result once it is synced, and gives back the lines of each kind as they are', async () => {
    const log = await open(1);
    log.append(result(4));
    log.append(result(2, 'E'));
    expect(log.progress.done).toBe(0);
    expect(log.pendingSinceMs).toBeDefined();
    await log.flush();
    expect(log.progress.counts).toEqual({ total: 10, completed: 1, failed: 1 });
    expect(log.progress.usage).toEqual({
      inputTokens: 6,
      outputTokens: 4,
      cachedTokens: 2,
      reasoningTokens: 0,
    });
    expect(await linesOf(log, 'O')).toBe('{"custom_id":"4"}\n');
    expect(await linesOf(log, 'E')).toBe('{"custom_id":"2"}\n');
    await log.close();
  });

  it('is continued by the next opening: a torn tail is cut off, whatever is in it', async () => {
    const first = await open(1);
    first.append(result(0));
    await first.flush();
    await first.close();
    appendFileSync(newestLog(), '7 O - {"custom_id":"7"}'); // whole but for its line break
    const second = await open(2);
    expect(second.progress.counts.completed).toBe(1);
    second.append(result(7));
    await second.flush();
    expect(await linesOf(second, 'O')).toBe('{"custom_id":"0"}\n{"custom_id":"7"}\n');
    await second.close();
  });

  it('takes nothing from a writer that was sealed off, however much it still appends', async () => {
    const zombie = await open(1);
    zombie.append(result(0));
    await zombie.flush();
    const holder = await open(2);
    zombie.append(result(1));
    await zombie.flush();
    holder.append({ ...result(1), line: '{"custom_id":"mine"}' });
    await holder.flush();
    await holder.close();
    const third = await open(3);
    expect(third.progress.done).toBe(2);
    expect(await linesOf(third, 'O')).toBe('{"custom_id":"0"}\n{"custom_id":"mine"}\n');
    await zombie.close();
    await third.close();
  });

  it('can be opened again under the same lease, after an outage', async () => {
    for (const index of [0, 1, 2]) {
      const log = await open(5);
      log.append(result(index));
      await log.flush();
      await log.close();
    }
    const last = await open(5);
    expect(last.progress.done).toBe(3);
    await last.close();
  });

  it('stops at the first failure of the disk, reports it, and keeps what was durable', async () => {
    const log = await open(1);
    const failures: Error[] = [];
    log.listen({ onDurable: () => undefined, onFailure: error => failures.push(error) });
    rmSync(folder, { recursive: true, force: true });
    log.append(result(0));
    await expect(log.flush()).rejects.toThrow('ENOENT');
    log.append(result(1));
    expect(failures).toHaveLength(1);
    expect(log.progress.done).toBe(0);
    await log.close();
  });

  /** A log whose writes wait until `thaw`. */
  async function frozen() {
    const log = await open(1);
    const gate = Promise.withResolvers<void>();
    const durable: number[] = [];
    const probe = await openFile(join(folder, 'probe'), 'w');
    const prototype = Object.getPrototypeOf(probe) as typeof probe;
    await probe.close();
    const write = prototype.write as (...args: unknown[]) => Promise<object>;
    const spy = jest.spyOn(prototype, 'write').mockImplementation(async function (
      this: unknown,
      ...args: unknown[]
    ) {
      await gate.promise;
      return write.apply(this, args) as never;
    });
    log.listen({
      onDurable: () => durable.push(log.progress.done),
      onFailure: () => durable.push(-1),
    });
    const thaw = () => {
      gate.resolve();
      spy.mockRestore();
    };
    return { log, durable, thaw, writes: () => spy.mock.calls.length };
  }
  const until = async (isTrue: () => boolean) => {
    while (!isTrue()) await turn();
  };
  const line = (bytes: number) => `{"a":"${'x'.repeat(bytes)}"}`;

  it.each([
    ['64 results', 64, 10],
    ['results of 4 MiB', 4, 1_048_576],
  ])('writes %s at once, and fewer only after 50 ms', async (_, count, bytes) => {
    const log = await ResultLog.open(folder, 1, 100);
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'performance'] });
    for (let index = 0; index < count - 1; index++)
      log.append({ index, kind: 'O', line: line(bytes) });
    expect(jest.getTimerCount()).toBe(1);
    log.append({ index: count - 1, kind: 'O', line: line(bytes) });
    expect(jest.getTimerCount()).toBe(0);
    await until(() => log.progress.done === count);
    log.append({ index: 99, kind: 'O', line: '{}' });
    expect([log.progress.done, log.pendingSinceMs! <= performance.now()]).toEqual([count, true]);
    const waiting = jest.getTimerCount();
    jest.advanceTimersByTime(49);
    expect(jest.getTimerCount()).toBe(waiting);
    jest.advanceTimersByTime(1);
    expect(jest.getTimerCount()).toBe(waiting - 1);
    await until(() => log.progress.done === count + 1);
    jest.useRealTimers();
    expect(log.pendingSinceMs).toBeUndefined();
    await log.close();
  });

  it('writes one group after the other; what comes meanwhile is one group more', async () => {
    const { log, durable, thaw, writes } = await frozen();
    log.append(result(0));
    const flushed = log.flush();
    for (const index of [1, 2]) log.append(result(index));
    await until(() => writes() === 1);
    await turn();
    expect([writes(), durable]).toEqual([1, []]);
    const since = log.pendingSinceMs!;
    thaw();
    await flushed;
    expect([durable, log.pendingSinceMs, since > 0]).toEqual([[1, 3], undefined, true]);
    const bytes = encodeRecord(result(0)).length * 3;
    expect(log.writtenBytes).toBe(bytes);
    await log.close();
  });

  it('writes a group that is full already as soon as the one before is written', async () => {
    const log = await ResultLog.open(folder, 1, 200);
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'performance'] });
    for (let index = 0; index < 128; index++) log.append(result(index));
    await until(() => log.progress.done === 128);
    expect(jest.getTimerCount()).toBe(0);
    jest.useRealTimers();
    await log.close();
  });

  it.each([
    [16, false],
    [17, true],
  ])('is behind while %i MiB wait for the disk: %s', async (mib, isBehind) => {
    const { log, thaw } = await frozen();
    const spare = encodeRecord({ index: 0, kind: 'O', line: line(0) }).length;
    // In two groups, of which one is being written.
    log.append({ index: 0, kind: 'O', line: line(8 * 1_048_576 - spare) });
    expect(log.isBehind).toBe(false);
    log.append({ index: 1, kind: 'O', line: line((mib - 8) * 1_048_576 - spare) });
    expect(log.isBehind).toBe(isBehind);
    thaw();
    await log.flush();
    expect(log.isBehind).toBe(false);
    await log.close();
  });

  it('drops what is not durable when it is closed, and takes nothing more', async () => {
    const log = await open(1);
    log.append(result(0));
    await log.close();
    log.append(result(1));
    await expect(log.flush()).rejects.toThrow('is closed');
    const again = await open(2);
    expect(again.progress.done).toBe(0);
    await again.close();
  });

  it('finishes the write that is on its way when it is closed', async () => {
    const { log, durable, thaw } = await frozen();
    log.append(result(0));
    const flushed = log.flush().catch(() => undefined);
    log.append(result(1));
    const closed = log.close();
    thaw();
    await Promise.all([flushed, closed]);
    expect(durable).toEqual([1]);
  });
});

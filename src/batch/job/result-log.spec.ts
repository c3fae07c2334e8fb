import { appendFileSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { temporaryFolder } from '../../../test/support/temporary-folder.js';
import { ResultLog } from './result-log.js';

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
});

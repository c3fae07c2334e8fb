import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { useFakeTimers, useRealTimers } from '../../../test/support/fake-timers.js';
import { temporaryFolder } from '../../../test/support/temporary-folder.js';
import { until } from '../../../test/support/waiting.js';
import { settingsFrom } from '../../platform/config/settings.js';
import { FsBlobStore } from '../../platform/storage/fs-blob-store.js';
import { type ClaimedJob } from '../job/claimed-job.js';
import { JobFolder } from '../job/job-folder.js';
import { ResultLog } from '../job/result-log.js';
import { type JobTraces } from '../observe/job-traces.js';
import { type JobMetrics } from '../observe/job.metrics.js';
import { LogShipping } from './log-shipping.js';

Logger.overrideLogger(false);

const CHECKPOINT_MS = 1000;

beforeEach(useFakeTimers);
afterEach(useRealTimers);

function harness(driver = 's3') {
  const blobs = new FsBlobStore(temporaryFolder());
  const counts: string[] = [];
  const metrics = {
    stored: (what: string, how: string) => counts.push(`${what} ${how}`),
  } as unknown as JobMetrics;
  const traces = {
    step: (name: string, key: string, work: () => unknown) => {
      counts.push(`${name} ${key}`);
      return work();
    },
  } as unknown as JobTraces;
  const settings = settingsFrom({ 'blobs.driver': driver, 'batch.checkpoint_ms': CHECKPOINT_MS });
  const shipping = new LogShipping(settings, blobs, metrics, traces);
  /** The batch at a processor with a disk of its own. */
  const processor = async (epoch: number) => {
    const folder = new JobFolder(temporaryFolder(), 'batch_1');
    await folder.make();
    const work = { lease: { job: { id: 'batch_1' }, epoch }, folder, writer: `${epoch}` };
    return work as unknown as ClaimedJob;
  };
  const keys = async () => (await Array.fromAsync(blobs.keys('jobs/'), ({ key }) => key)).sort();
  return { blobs, counts, shipping, processor, keys };
}

async function record(log: ResultLog, ...indices: number[]) {
  for (const index of indices) log.append({ index, kind: 'O', line: `{"n":${index}}` });
  await log.flush();
}
const openLog = ({ lease, folder }: ClaimedJob) => ResultLog.open(folder.results, lease.epoch, 9);

/** Of `until`: its own timer would be faked. */
const NEXT_TURN = { everyMs: 0 };
const tick = () => jest.advanceTimersByTimeAsync(CHECKPOINT_MS);

describe('the result log of a batch with blobs in S3', () => {
  it('is copied piece by piece, and is continued from there on another disk', async () => {
    const { blobs, counts, shipping, processor, keys } = harness();
    const first = await processor(1);
    const log = await openLog(first);
    await record(log, 0);
    {
      await using _copy = shipping.start(first, log);
      await tick();
      await until(() => counts.length === 1, NEXT_TURN);
      await tick();
      await record(log, 1, 2);
    }
    expect(counts).toEqual(['store success', 'store success']);
    const bytes = readFileSync(join(first.folder.results, log.segments.current));
    const stem = 'jobs/batch_1/log/0000000001-0000';
    expect(await keys()).toEqual([
      ...[`${stem}.log/${'0'.repeat(15)}`, `${stem}.log/000000000000014`, `${stem}.seal`],
    ]);
    await log.close();

    counts.length = 0;
    // A store may list in any order.
    const listed = await Array.fromAsync(blobs.keys('jobs/'));
    jest.spyOn(blobs, 'keys').mockImplementation(() => Readable.from(listed.reverse()));
    const second = await processor(2);
    await shipping.restore(second);
    expect(counts).toEqual(['retrieve success', 'retrieve success']);
    expect(readdirSync(second.folder.results).sort()).toEqual([
      ...['0000000001-0000.log', '0000000001-0000.seal'],
    ]);
    expect(readFileSync(join(second.folder.results, '0000000001-0000.log'))).toEqual(bytes);
    const continued = await openLog(second);
    expect(continued.progress.done).toBe(3);
    await continued.close();
  });

  it('is never replaced on a disk that has it, also where it came meanwhile', async () => {
    const { blobs, counts, shipping, processor } = harness();
    for (const name of ['known.log', 'sudden.log'])
      await blobs.write(`jobs/batch_1/log/${name}`, Readable.from([Buffer.from('copy')]));
    const work = await processor(2);
    const paths = ['known.log', 'sudden.log'].map(name => join(work.folder.results, name));
    writeFileSync(paths[0]!, 'mine, and longer');
    jest.spyOn(blobs, 'readAll').mockImplementation(async function* () {
      writeFileSync(paths[1]!, 'mine, too');
      yield await Promise.resolve(Buffer.from('copy'));
    });
    await shipping.restore(work);
    expect(paths.map(path => readFileSync(path, 'utf8'))).toEqual([
      'mine, and longer',
      'mine, too',
    ]);
    expect([readdirSync(work.folder.results).length, counts]).toEqual([2, ['retrieve success']]);
  });

  it('that cannot be fetched is an error', async () => {
    const { blobs, counts, shipping, processor } = harness();
    await blobs.write('jobs/batch_1/log/a.log', Readable.from([Buffer.from('copy')]));
    const work = await processor(2);
    jest.spyOn(blobs, 'readAll').mockImplementation(async function* () {
      yield await Promise.resolve(Buffer.from('copy'));
      rmSync(work.folder.results, { recursive: true });
    });
    await expect(shipping.restore(work)).rejects.toThrow('ENOENT');
    expect(counts).toEqual([]);
  });

  it('is copied one piece at a time, again after a failure, and no more after its end', async () => {
    const { blobs, counts, shipping, processor, keys } = harness();
    const work = await processor(1);
    const log = await openLog(work);
    await record(log, 0);
    const gate = Promise.withResolvers<void>();
    const write = jest.spyOn(blobs, 'write').mockImplementationOnce(async () => {
      await gate.promise;
      throw new Error('away');
    });
    const copy = shipping.start(work, log)!;
    for (let ticks = 0; ticks < 3; ticks++) await tick();
    expect(write).toHaveBeenCalledTimes(1);
    gate.resolve();
    await until(() => counts.length > 0, NEXT_TURN);
    expect(new Set(counts)).toEqual(new Set(['store retry']));
    const before = counts.length;
    await tick();
    await until(() => counts.length > before, NEXT_TURN);
    expect(counts.at(-1)).toBe('store success');
    expect(await keys()).toHaveLength(2);
    await copy[Symbol.asyncDispose]();
    const calls = write.mock.calls.length;
    await record(log, 1);
    await tick();
    await turn();
    expect(write).toHaveBeenCalledTimes(calls);
    await log.close();
  });

  it('delays the end of a batch by one checkpoint at most when the store hangs', async () => {
    const { blobs, shipping, processor } = harness();
    const work = await processor(1);
    const log = await openLog(work);
    jest.spyOn(blobs, 'write').mockImplementation(() => new Promise(() => undefined));
    let isOver = false;
    const over = shipping
      .start(work, log)!
      [Symbol.asyncDispose]()
      .then(() => (isOver = true));
    await jest.advanceTimersByTimeAsync(CHECKPOINT_MS - 1);
    expect(isOver).toBe(false);
    await jest.advanceTimersByTimeAsync(1);
    await over;
    await log.close();
  });

  it('is removed after the end of its batch', async () => {
    const { blobs, counts, shipping, keys } = harness();
    for (const key of ['jobs/batch_1/log/a', 'jobs/batch_2/log/a'])
      await blobs.write(key, Readable.from([Buffer.from('x')]));
    await shipping.remove('batch_1');
    expect(await keys()).toEqual(['jobs/batch_2/log/a']);
    expect(counts).toEqual(['storage.Delete jobs/batch_1/log/a', 'delete success']);
  });
});

it('the result log of a batch with blobs on the file system is not copied', async () => {
  const { blobs, counts, shipping, processor, keys } = harness('fs');
  await blobs.write('jobs/batch_1/log/a', Readable.from([Buffer.from('x')]));
  const work = await processor(1);
  await shipping.restore(work);
  const log = await openLog(work);
  expect(shipping.start(work, log)).toBeUndefined();
  await shipping.remove('batch_1');
  expect(await keys()).toEqual(['jobs/batch_1/log/a']);
  expect([existsSync(join(work.folder.results, 'a')), counts]).toEqual([false, []]);
  await log.close();
});

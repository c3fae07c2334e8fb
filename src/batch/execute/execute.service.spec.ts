import { rm } from 'node:fs/promises';
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import {
  type ExecutionGiven,
  GOOD,
  jobExecution,
  openLogs,
} from '../../../test/support/job-execution.js';
import { pause, until } from '../../../test/support/waiting.js';
import { type ModelSpec } from '../../platform/config/model-spec.js';
import { type JobStop } from '../lease/job-stop.js';

Logger.overrideLogger(false);

afterEach(async () => {
  jest.restoreAllMocks();
  for (const log of openLogs.splice(0)) await log.close();
});

type Reason = Parameters<JobStop['request']>[0];

const AGAIN = { kind: 'again', tried: { failed: 1, busy: 0 }, afterMs: 0 };

/** A batch of one line, which is in flight until it is aborted or `answer` is called. */
async function inFlight(graceMs: number) {
  const sent = Promise.withResolvers<AbortSignal>();
  const answered = Promise.withResolvers<object>();
  const its = await jobExecution({
    ...{ graceMs, lines: { m: 1 } },
    answer: (_, signal) => {
      sent.resolve(signal);
      return answered.promise;
    },
  });
  const ended = its.run();
  return {
    ...{ stop: its.stop, ended, signal: await sent.promise },
    answer: () => answered.resolve(AGAIN),
  };
}

describe('lines in flight of a batch that stops', () => {
  it.each<[Reason, ...Reason[]]>([['cancelled'], ['expired'], ['lost'], ['preempted', 'lost']])(
    'are given up after the grace period: %s',
    async (...reasons) => {
      const { stop, ended } = await inFlight(0);
      for (const reason of reasons) stop.request(reason);
      expect(await ended).toBe(reasons.at(-1));
    },
  );

  it('are given up at once when the lease is lost within the grace period', async () => {
    const { stop, ended } = await inFlight(2 ** 31 - 1);
    stop.request('cancelled');
    await turn();
    stop.request('lost');
    expect(await ended).toBe('lost');
  });

  it.each<[Reason, number]>([
    ['preempted', 0],
    ['cancelled', 2 ** 31 - 1],
  ])('are waited for: %s, with a grace period of %d ms', async (reason, graceMs) => {
    const { stop, ended, signal, answer } = await inFlight(graceMs);
    stop.request(reason);
    let isOver = false;
    void ended.then(() => (isOver = true));
    await turn();
    // Ends after a grace period of 0 ms would.
    await pause(0);
    await turn();
    expect([signal.aborted, isOver]).toEqual([false, false]);
    answer();
    expect(await ended).toBe(reason);
  });
});

describe('the lines of a batch', () => {
  it('are sent until all have results; nothing of the work goes on then', async () => {
    const its = await jobExecution({ lines: { a: 2, b: 2 } });
    const remove = jest.spyOn(its.dispatcher, 'remove');
    expect(await its.run()).toBeUndefined();
    expect(remove).toHaveBeenCalledTimes(1);
    expect(its.sent).toEqual(['a 0', 'b 2', 'a 1', 'b 3']);
    expect(its.log.progress.counts).toEqual({ total: 4, completed: 4, failed: 0 });
    expect(its.events).toEqual(['restored', 'copied']);
    expect([its.intervals, its.work.running]).toEqual([[], undefined]);
    // Nothing is sent again.
    expect(await its.run()).toBeUndefined();
    expect(its.sent).toHaveLength(4);
  });

  it('are sent again where an attempt says so, and the batch waits for that', async () => {
    let attempts = 0;
    const its = await jobExecution({
      lines: { m: 1 },
      answer: () => (++attempts < 3 ? AGAIN : GOOD),
    });
    expect(await its.run()).toBeUndefined();
    expect(its.sent).toEqual(['m 0', 'm 0', 'm 0']);
  });

  it.each<[string, ExecutionGiven, Reason | undefined, number]>([
    ['was cancelled before', { status: 'cancelling' }, 'cancelled', 0],
    ['is past its deadline', { windowMs: 0 }, 'expired', 0],
    ['is finalizing past its deadline', { status: 'finalizing', windowMs: -9 }, undefined, 2],
  ])('are sent, or not, of a batch that %s', async (_, given, reason, lines) => {
    const its = await jobExecution(given);
    expect([await its.run(), its.sent.length]).toEqual([reason, lines]);
  });

  it('are not sent after its deadline; those without answers are none', async () => {
    const its = await jobExecution({ windowMs: 40, answer: () => new Promise(() => undefined) });
    expect([await its.run(), its.log.progress.done]).toEqual(['expired', 0]);
  });

  it('that were all answered before it are a whole batch', async () => {
    const its = await jobExecution({
      answer: line => {
        if (line === 1) its.stop.request('expired');
        return GOOD;
      },
    });
    expect(await its.run()).toBeUndefined();
    expect(its.log.progress.remaining).toBe(0);
  });

  it('are not sent while the log is behind, or without the lease', async () => {
    const its = await jobExecution({ lines: { m: 11 } });
    const isBehind = jest.spyOn(its.log, 'isBehind', 'get').mockReturnValue(true);
    const ended = its.run();
    await until(() => its.work.running !== undefined);
    expect(its.work.running).toMatchObject({ log: its.log, doneAtStart: 0 });
    its.dispatcher.pump();
    expect(its.sent).toEqual([]);
    isBehind.mockReturnValue(false);
    its.lease.isLost = true;
    its.dispatcher.pump();
    expect(its.sent).toEqual([]);
    its.lease.isLost = false;
    its.dispatcher.pump();
    expect(its.sent).toHaveLength(10);
    expect(await ended).toBeUndefined();
  });

  it('go on once results are durable', async () => {
    const its = await jobExecution({ lines: { m: 2 } });
    const isBehind = jest.spyOn(its.log, 'isBehind', 'get').mockReturnValue(true);
    const ended = its.run();
    await until(() => its.work.running !== undefined);
    its.log.append({ index: 0, kind: 'E', line: '{}' });
    isBehind.mockReturnValue(false);
    expect(await ended).toBeUndefined();
    expect(its.sent).toEqual(['m 0', 'm 1']);
  });

  it('are not put back once the batch stops, and no more are sent', async () => {
    const its = await jobExecution({
      lines: { m: 12 },
      answer: async () => {
        await turn();
        its.stop.request('preempted');
        return AGAIN;
      },
    });
    expect(await its.run()).toBe('preempted');
    expect(its.sent).toHaveLength(10);
  });

  it('end with the error of a disk or store, which is not the line’s; answers are kept', async () => {
    const its = await jobExecution({
      lines: { m: 3 },
      answer: line => (line === 1 ? Promise.reject(new Error('disk')) : GOOD),
    });
    await expect(its.run()).rejects.toThrow('disk');
    expect([its.stop.reason, its.log.progress.done]).toEqual(['trouble', 2]);
  });

  it('end with the first error when the log cannot be written either', async () => {
    const its = await jobExecution({ answer: () => Promise.reject(new Error('first')) });
    jest.spyOn(its.log, 'flush').mockRejectedValue(new Error('second'));
    await expect(its.run()).rejects.toThrow('first');
    const other = await jobExecution();
    jest.spyOn(other.log, 'flush').mockRejectedValue(new Error('second'));
    await expect(other.run()).rejects.toThrow('second');
  });

  it('end when their log fails', async () => {
    const its = await jobExecution();
    await rm(its.work.folder.results, { recursive: true });
    await expect(its.run()).rejects.toThrow('ENOENT');
    expect(its.stop.reason).toBe('trouble');
  });

  it('are not written by a processor that lost the batch', async () => {
    const its = await jobExecution({
      answer: () => {
        its.stop.request('lost');
        return GOOD;
      },
    });
    const flush = jest.spyOn(its.log, 'flush');
    expect([await its.run(), flush.mock.calls.length]).toEqual(['lost', 0]);
  });

  const on = (id: string, device: string, aliases: string[] = []) =>
    ({ id, aliases, device: [{ id: device }] }) as unknown as ModelSpec;

  it.each([
    ['one device', [on('a', 'gpu0'), on('b', 'gpu0', ['c'])], ['a 0', 'a 1', 'c 2', 'c 3']],
    [
      'one device beside others',
      [on('a', 'gpu0'), on('b', 'gpu1'), on('c', 'gpu0')],
      ['a 0', 'a 1', 'c 2', 'c 3'],
    ],
    ['two devices', [on('a', 'gpu0'), on('c', 'gpu1')], ['a 0', 'c 2', 'a 1', 'c 3']],
    ['no device', [], ['a 0', 'c 2', 'a 1', 'c 3']],
  ])('of models at %s are sent in that order', async (_, models, order) => {
    const its = await jobExecution({ lines: { a: 2, c: 2 }, models });
    await its.run();
    expect(its.sent).toEqual(order);
  });
});

describe('the progress of a batch', () => {
  it('is written when it changed, and while the lease is held', async () => {
    const held = Promise.withResolvers<object>();
    const its = await jobExecution({
      lines: { m: 3 },
      answer: line => (line === 2 ? held.promise : { ...GOOD, kind: line === 0 ? 'O' : 'E' }),
    });
    const updateWeight = jest.spyOn(its.dispatcher, 'updateWeight');
    const ended = its.run();
    await until(() => its.intervals.length === 2);
    const [tick, weigh] = its.intervals;
    tick!();
    expect(its.updates).toEqual([]);
    await its.log.flush();
    await until(() => its.log.progress.done === 2);
    its.lease.isLost = true;
    tick!();
    expect(its.updates).toEqual([]);
    its.lease.isLost = false;
    for (const counts of [
      { completed: 1, failed: 1, total: 3 },
      { completed: 1, failed: 0, total: 3 },
      { completed: 0, failed: 1, total: 3 },
    ]) {
      its.lease.job.counts = counts;
      its.lease.update.mockRejectedValueOnce(new Error('away'));
      tick!();
    }
    expect(its.lease.update).toHaveBeenCalledTimes(2);
    expect(its.lease.update).toHaveBeenCalledWith({
      ...{ counts: { completed: 1, failed: 1, total: 3 }, usage: undefined },
    });
    const before = updateWeight.mock.calls.length;
    weigh!();
    expect(updateWeight).toHaveBeenCalledTimes(before + 1);
    held.resolve(GOOD);
    await ended;
  });
});

describe('the work folder', () => {
  it('is removed with the copies of the log; a failure is left to the next start', async () => {
    const { service, work, events } = await jobExecution();
    await service.removeFolder(work);
    expect(events).toEqual(['restored', 'removed batch_1']);
    jest.spyOn(work.folder, 'remove').mockRejectedValue(new Error('busy'));
    await service.removeFolder(work);
    expect(events).toHaveLength(2);
  });
});

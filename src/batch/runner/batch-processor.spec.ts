import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { useFakeTimers, useRealTimers } from '../../../test/support/fake-timers.js';
import { temporaryFolder } from '../../../test/support/temporary-folder.js';
import { settingsFrom } from '../../platform/config/settings.js';
import { type JobStore } from '../../platform/database/job-store.js';
import { type WebhookSender } from '../finalize/webhook-sender.js';
import { type LineGrace } from '../lease/job-stop.js';
import { type JobMetrics } from '../observe/job.metrics.js';
import { BatchProcessor } from './batch-processor.js';
import { type JobSupervisor } from './job-supervisor.js';

Logger.overrideLogger(false);

const POLL_MS = 100;

const running: {
  readonly processor: BatchProcessor;
  readonly open: ReadonlyMap<string, unknown>;
  end(id: string): void;
}[] = [];

beforeEach(useFakeTimers);
afterEach(async () => {
  const stopped = running.map(({ processor }) => processor.stop());
  for (const { open, end } of running.splice(0)) for (const id of open.keys()) end(id);
  await Promise.all(stopped);
  useRealTimers();
});

/** A processor with the batches that wait for one, each of which runs until it is ended. */
function harness(batches: (string | Error)[] = [], jobs = 2) {
  const events: string[] = [];
  const looks: number[] = [];
  const startMs = Date.now();
  const open = new Map<string, () => void>();
  const owners = new Set<string>();
  const store = {
    unfinishedAmong: (names: readonly string[]) =>
      Promise.resolve(new Set(names.filter(name => name.startsWith('open')))),
    find: (tenant: string, id: string) =>
      Promise.resolve(tenant === 't' && id !== 'gone' ? { status: `${id} status` } : undefined),
    tenantShares: jest.fn(() => Promise.resolve(['shares'])),
  };
  const supervisor = {
    get size() {
      return open.size;
    },
    claim: (owner: string) => {
      owners.add(owner);
      looks.push(Date.now() - startMs);
      const next = batches.shift();
      return next instanceof Error ? Promise.reject(next) : Promise.resolve(next);
    },
    supervise: (id: string) => new Promise<void>(ended => open.set(id, ended)),
    wake: () => void events.push('woken'),
    stop: () => void events.push('stopped'),
    preemptFor: (shares: readonly unknown[]) => void events.push(`preempt for ${shares.join()}`),
  };
  const end = (id: string) => {
    const ended = open.get(id)!;
    open.delete(id);
    ended();
  };
  const data = temporaryFolder();
  const processor = new BatchProcessor(
    settingsFrom({ 'batch.poll_ms': POLL_MS, 'data.dir': data, 'batch.jobs': jobs }),
    store as unknown as JobStore,
    supervisor as unknown as JobSupervisor,
    {
      start: () => events.push('webhooks'),
      stop: () => Promise.resolve(void events.push('no webhooks')),
    } as unknown as WebhookSender,
    { hurry: () => events.push('hurry') } as unknown as LineGrace,
    {
      recovered: (status: string, action: string) => events.push(`${status}: ${action}`),
    } as unknown as JobMetrics,
  );
  const advance = async (ms: number) => {
    await jest.advanceTimersByTimeAsync(ms);
    await turn();
  };
  const made = { processor, events, looks, open, end, store, data, owners, batches, advance };
  running.push(made);
  return made;
}

describe('a processor without batches', () => {
  it('looks for them at every poll', async () => {
    const { processor, looks, advance } = harness();
    await processor.start();
    await advance(POLL_MS * 10);
    expect(looks).toEqual(Array.from({ length: 11 }, (_, at) => at * POLL_MS));
  });

  it('looks at every fifth poll after three in vain when its gateway wakes it, and at once then', async () => {
    const { processor, looks, events, advance } = harness();
    await processor.start(true);
    await advance(POLL_MS * 13);
    expect(looks.map(ms => ms / POLL_MS)).toEqual([0, 1, 2, 7, 12]);
    processor.wake();
    await advance(POLL_MS * 8);
    expect(looks.slice(5).map(ms => ms / POLL_MS)).toEqual([13, 14, 15, 20]);
    expect(events).toEqual(['webhooks', 'woken']);
  });

  it('looks again at the next poll when the database does not respond', async () => {
    const { processor, open, looks, advance } = harness([new Error('away'), 'a']);
    await processor.start();
    await advance(POLL_MS - 1);
    expect([looks.length, open.size]).toEqual([1, 0]);
    await advance(1);
    expect([...open.keys()]).toEqual(['a']);
  });
});

describe('a processor with batches', () => {
  it('claims as many as it has slots, under one name, and the next when one ends', async () => {
    const { processor, open, end, owners, looks, advance } = harness(['a', 'b', 'c', 'd']);
    await processor.start(true);
    await advance(0);
    expect([[...open.keys()], looks.length, owners.size]).toEqual([['a', 'b'], 2, 1]);
    end('a');
    await advance(0);
    expect([...open.keys()]).toEqual(['b', 'c']);
  });

  it('looks at every poll while one runs, though its gateway wakes it', async () => {
    const { processor, looks, end, advance } = harness(['a']);
    await processor.start(true);
    await advance(POLL_MS * 6);
    expect(looks).toHaveLength(8);
    end('a');
    await advance(POLL_MS * 8);
    expect(looks.slice(8).map(ms => ms / POLL_MS)).toEqual([6, 7, 8, 13]);
  });

  it('may hand over one for another tenant when all slots are in use', async () => {
    const { processor, events, store, advance } = harness(['a', 'b']);
    await processor.start();
    await advance(POLL_MS);
    expect(events).toEqual(['webhooks', 'preempt for shares', 'preempt for shares']);
    store.tenantShares.mockRejectedValueOnce(new Error('away'));
    await advance(POLL_MS);
    expect(events.at(-1)).toBe('preempt for ');
    const other = harness(['a']);
    await other.processor.start();
    await other.advance(POLL_MS);
    expect(other.events).toEqual(['webhooks']);
  });

  it.each([true, false])('stops when all are handed over, in a hurry or not: %s', async hurry => {
    const { processor, events, end, looks, batches, advance } = harness(['a']);
    await processor.start();
    await advance(1);
    events.length = 0;
    let isStopped = false;
    const stopped = processor.stop(hurry).then(() => (isStopped = true));
    expect(events).toEqual([...(hurry ? ['hurry'] : []), 'stopped', 'no webhooks']);
    batches.push('b');
    await advance(POLL_MS * 3);
    expect([isStopped, looks.length]).toEqual([false, 2]);
    end('a');
    await stopped;
    await processor.stop();
    expect(events.filter(event => event === 'stopped')).toHaveLength(1);
  });

  it('claims no more once it stops, and waits for the claim that is on its way', async () => {
    const { processor, open, end, looks, events, advance } = harness(['a', 'b']);
    await processor.start();
    let isStopped = false;
    const stopped = processor.stop().then(() => (isStopped = true));
    await advance(POLL_MS);
    expect([[...open.keys()], looks.length, isStopped]).toEqual([['a'], 1, false]);
    expect(events).not.toContain('hurry');
    end('a');
    await stopped;
  });
});

describe('work folders of earlier processors', () => {
  it('stay for batches that are unfinished, and go for others', async () => {
    const { processor, events, data } = harness();
    const jobs = join(data, 'jobs');
    for (const [id, owner] of Object.entries({
      ended: '{"tenant":"t","id":"ended"}',
      gone: '{"tenant":"t","id":"gone"}',
      'open-1': '{"tenant":"t","id":"open-1"}',
      'open-2': undefined,
      torn: '{"ten',
    })) {
      mkdirSync(join(jobs, id), { recursive: true });
      if (owner !== undefined) writeFileSync(join(jobs, id, 'owner.json'), owner);
    }
    await processor.start();
    expect(events.slice(0, -1).sort()).toEqual([
      'ended status: cleaned_up',
      'open-1 status: kept',
      'unknown: cleaned_up',
      'unknown: cleaned_up',
      'unknown: kept',
    ]);
    const left = ['ended', 'gone', 'open-1', 'open-2', 'torn'].filter(id =>
      existsSync(join(jobs, id)),
    );
    expect(left).toEqual(['open-1', 'open-2']);
  });

  it('that cannot be read are an error of the start', async () => {
    const { processor, data } = harness();
    mkdirSync(join(data, 'jobs', 'open', 'owner.json'), { recursive: true });
    await expect(processor.start()).rejects.toThrow('EISDIR');
  });
});

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { temporaryFolder } from '../../../test/support/temporary-folder.js';
import { encodePlan, Plan } from '../../core/jobs/plan-entry.js';
import { ModelList } from '../../platform/config/config.module.js';
import { settingsFrom } from '../../platform/config/settings.js';
import { type ClaimedJob } from '../job/claimed-job.js';
import { ResultLog } from '../job/result-log.js';
import { JobStop, LineGrace } from '../lease/job-stop.js';
import { ExecuteService } from './execute.service.js';
import { LineDispatcher } from './line-dispatcher.js';
import { type LineSender } from './line-sender.js';
import { type LogShipping } from './log-shipping.js';
import { TargetResolver } from './target-resolver.js';

type Reason = Parameters<JobStop['request']>[0];

/** A batch of one line, which is in flight until it is aborted or `answer` is called. */
async function inFlight(graceMs: number) {
  const input = join(temporaryFolder(), 'input.jsonl');
  await writeFile(input, '{}\n');
  const sent = Promise.withResolvers<AbortSignal>();
  const answered = Promise.withResolvers<never>();
  const attempt = ({ signal }: { signal: AbortSignal }) => {
    signal.addEventListener('abort', () => answered.reject(new Error('aborted')));
    sent.resolve(signal);
    return answered.promise;
  };
  const limits = { concurrencyPerModel: 10 };
  const service = new ExecuteService(
    new LineDispatcher(settingsFrom({ 'batch.concurrency': 10 })),
    new TargetResolver({ kind: 'per_model', targets: new Map() }, limits),
    { attempt } as unknown as LineSender,
    new LineGrace(graceMs, graceMs),
    { start: () => ({ [Symbol.asyncDispose]: () => Promise.resolve() }) } as unknown as LogShipping,
    new ModelList([]),
  );
  const stop = new JobStop();
  const job = { id: 'batch_1', tenant: 't', status: 'in_progress', createdAtMs: Date.now() };
  const lease = { job: { ...job, expiresAtMs: Date.now() + 60_000 }, epoch: 1, isLost: false };
  const work = { lease, folder: { input }, stop } as unknown as ClaimedJob;
  const plan = new Plan(encodePlan([{ offset: 0, length: 2, prefixHash: 0 }]));
  const lines = { total: 1, models: [{ model: 'm', first: 0, plan }], firstRejected: 1 };
  const log = await ResultLog.open(temporaryFolder(), 1, 1);
  const ended = service.run(work, lines, log);
  const answer = () => answered.resolve({ kind: 'again', tried: {}, afterMs: 0 } as never);
  return { stop, signal: await sent.promise, ended, answer };
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
    for (let i = 0; i < 20; i++) await turn();
    expect(signal.aborted).toBe(false);
    answer();
    expect(await ended).toBe(reason);
  });
});

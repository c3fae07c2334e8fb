import { writeFile } from 'node:fs/promises';
import { jest } from '@jest/globals';
import { ExecuteService } from '../../src/batch/execute/execute.service.js';
import { LineDispatcher } from '../../src/batch/execute/line-dispatcher.js';
import { type LineTicket } from '../../src/batch/execute/line-lane.js';
import { type LineSender } from '../../src/batch/execute/line-sender.js';
import { type LogShipping } from '../../src/batch/execute/log-shipping.js';
import { TargetResolver } from '../../src/batch/execute/target-resolver.js';
import { type ClaimedJob } from '../../src/batch/job/claimed-job.js';
import { JobFolder } from '../../src/batch/job/job-folder.js';
import { type ResultLog } from '../../src/batch/job/result-log.js';
import { JobStop, LineGrace } from '../../src/batch/lease/job-stop.js';
import { encodePlan, Plan } from '../../src/core/jobs/plan-entry.js';
import { ModelList } from '../../src/platform/config/config.module.js';
import { type ModelSpec } from '../../src/platform/config/model-spec.js';
import { settingsFrom } from '../../src/platform/config/settings.js';
import { temporaryFolder } from './temporary-folder.js';

export interface ExecutionGiven {
  readonly status?: string;
  readonly windowMs?: number;
  /** Lines per model. */
  readonly lines?: Record<string, number>;
  readonly models?: readonly ModelSpec[];
  /** Of lines in flight when the batch stops (default 0). */
  readonly graceMs?: number;
  readonly answer?: (line: number, signal: AbortSignal) => Promise<object> | object;
}

interface Attempt {
  readonly lane: { readonly model: string };
  readonly ticket: LineTicket;
  readonly signal: AbortSignal;
}

export const GOOD = { kind: 'O', line: '{}' };

/** Of each `jobExecution`; to be closed after each test. */
export const openLogs: ResultLog[] = [];

/** A claimed batch and the service that sends its lines, as the test answers them. */
export async function jobExecution(given: ExecutionGiven = {}) {
  const { lines: perModel = { m: 2 }, answer = () => GOOD, graceMs = 0 } = given;
  const folder = new JobFolder(temporaryFolder(), 'batch_1');
  const intervals: (() => void)[] = [];
  jest.spyOn(globalThis, 'setInterval').mockImplementation(((run: () => void) => {
    intervals.push(run);
    return { [Symbol.dispose]: () => void intervals.splice(intervals.indexOf(run), 1) };
  }) as never);
  const sent: string[] = [];
  const events: string[] = [];
  const dispatcher = new LineDispatcher(settingsFrom({ 'batch.concurrency': 10 }));
  const attempt = async ({ lane, ticket, signal }: Attempt) => {
    sent.push(`${lane.model} ${ticket.index}`);
    const aborted = new Promise((_, reject) =>
      signal.addEventListener('abort', () => reject(new Error('aborted'))),
    );
    return Promise.race([answer(ticket.index, signal), aborted]);
  };
  const service = new ExecuteService(
    dispatcher,
    new TargetResolver({ kind: 'per_model', targets: new Map() }, { concurrencyPerModel: 10 }),
    { attempt } as unknown as LineSender,
    new LineGrace(graceMs, graceMs),
    {
      restore: () => Promise.resolve(void events.push('restored')),
      start: () => ({ [Symbol.asyncDispose]: () => Promise.resolve(void events.push('copied')) }),
      remove: (id: string) => Promise.resolve(void events.push(`removed ${id}`)),
    } as unknown as LogShipping,
    new ModelList(given.models ?? []),
  );
  const updates: unknown[] = [];
  const stop = new JobStop();
  const lease = {
    job: {
      ...{ id: 'batch_1', tenant: 't', status: given.status ?? 'in_progress' },
      ...{ createdAtMs: Date.now(), expiresAtMs: Date.now() + (given.windowMs ?? 60_000) },
      counts: { total: 0, completed: 0, failed: 0 },
    },
    ...{ epoch: 1, isLost: false },
    update: jest.fn((change: unknown) => Promise.resolve(void updates.push(change))),
  };
  const work = { lease, folder, stop } as unknown as ClaimedJob;
  let first = 0;
  const models = Object.entries(perModel).map(([model, count]) => {
    const entries = Array.from({ length: count }, () => ({ offset: 0, length: 2, prefixHash: 0 }));
    first += count;
    return { model, first: first - count, plan: new Plan(encodePlan(entries)) };
  });
  const plan = { total: first, models, firstRejected: first };
  const log = await service.openLog(work, plan);
  openLogs.push(log);
  await writeFile(folder.input, '{}\n');
  const run = () => service.run(work, plan, log);
  return { service, work, lease, stop, log, run, sent, events, updates, intervals, dispatcher };
}

import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { LineDispatcher, type SendingJob } from '../../../src/batch/execute/line-dispatcher.js';
import { LineLane } from '../../../src/batch/execute/line-lane.js';
import { type Answer, answerOf, brokenBy } from '../../../src/batch/execute/line-reply.js';
import { LineSender } from '../../../src/batch/execute/line-sender.js';
import { TargetGate } from '../../../src/batch/execute/target-gate.js';
import { JobProgress } from '../../../src/batch/job/job-progress.js';
import { encodePlan, Plan } from '../../../src/core/jobs/plan-entry.js';
import { probePauses } from '../../../src/core/jobs/reachability.js';
import { settingsFrom } from '../../../src/platform/config/settings.js';
import { batchJob } from '../../contract/stores/batch-fixtures.js';

const LINES = 3000;
const SERVICE_MS = 20;
const BACK_MS = 76_000;
const AWAY_MS = 1000;

const line = (id: number): Buffer => Buffer.from(`{"custom_id":"${id}","body":{"model":"m"}}`);
const failure = (status: number, error: object): Answer =>
  answerOf({ status, headers: {}, body: Buffer.from(JSON.stringify({ error })) }, 'id');

/**
 * A batch of 3,000 lines at a target that answers in 20 ms and is away from 1 s to 76 s,
 * in virtual time.
 */
async function runBatch(absence: () => Answer) {
  const [good, bad, duringAbsence]: [number[], number[], number[]] = [[], [], []];
  const target = {
    spec: { retries: RETRIES, fetchesFileUrl: true },
    name: 'target',
    isReachable: () => false,
    exchange: async () => {
      const isAway = performance.now() >= AWAY_MS && performance.now() < BACK_MS;
      if (isAway) duringAbsence.push(performance.now());
      await new Promise(answered => setTimeout(answered, isAway ? 1 : SERVICE_MS));
      // Those that the target had when it went.
      const isLost = performance.now() >= AWAY_MS && performance.now() < BACK_MS && !isAway;
      if (isAway || isLost)
        return isLost ? brokenBy({ name: '', message: '', code: 'ECONNRESET' }) : absence();
      return answerOf({ status: 200, headers: {}, body: Buffer.from('{}') }, 'id');
    },
  };
  const events = { attempted: () => undefined, retried: () => undefined, settled: () => undefined };
  const sender = new LineSender(
    { targetOf: () => target } as never,
    {} as never,
    events as never,
    settingsFrom({}),
    {} as never,
    {} as never,
  );
  const plan = new Plan(
    encodePlan(
      Array.from({ length: LINES }, (_, offset) => ({ offset, length: 9, prefixHash: 0 })),
    ),
  );
  const lane = new LineLane(
    'job',
    't',
    { model: 'm', first: 0, plan },
    new TargetGate(10, probePauses(RETRIES)),
    new JobProgress(LINES),
  );
  const input = {
    read: ({ offset }: { offset: number }) => Promise.resolve(line(offset)),
  } as never;
  const claim = { job: batchJob({ expiresAtMs: Date.now() + 86_400_000 }), epoch: 1 };
  const { signal } = new AbortController();
  const job: SendingJob = {
    lanes: [lane],
    maySend: true,
    weight: 1,
    send: async (_lane, ticket) => {
      const outcome = await sender.attempt({ claim, lane, ticket, input, signal });
      if (outcome.kind === 'again')
        return lane.retryAt(
          { ...ticket, tried: outcome.tried },
          performance.now() + outcome.afterMs,
        );
      (outcome.kind === 'O' ? good : bad).push(performance.now());
    },
  };
  new LineDispatcher(settingsFrom({})).add(job);
  while (good.length + bad.length < LINES) await jest.advanceTimersByTimeAsync(10);
  return {
    good,
    bad,
    probes: duringAbsence.length,
    resumedMs: good.find(atMs => atMs >= BACK_MS)! - BACK_MS,
  };
}

/** Today's budget: spent within 15 s of absence. */
const RETRIES = { attempts: 4, initialMs: 1000, maxMs: 60_000 };

describe('a target that is away for 75 s', () => {
  beforeEach(() => void jest.useFakeTimers({ now: 1_800_000_000_000 }));
  afterEach(() => void jest.useRealTimers());

  it.each<[string, () => Answer]>([
    ['refuses connections', () => brokenBy({ name: '', message: '', code: 'ECONNREFUSED' })],
    ['answers 502 in its place', () => failure(502, {})],
    ['answers 503 storage_unavailable', () => failure(503, { code: 'storage_unavailable' })],
  ])(
    'and %s costs no line: one probe at a time, and the batch continues within 5 s of its return',
    async (_, absence) => {
      const { good, bad, probes, resumedMs } = await runBatch(absence);
      expect([good.length, bad.length]).toEqual([LINES, 0]);
      expect(probes).toBeLessThanOrEqual(20);
      expect(resumedMs).toBeLessThanOrEqual(5000 + SERVICE_MS + 10);
    },
    60_000,
  );
});

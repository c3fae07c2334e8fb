import { describe, expect, it } from '@jest/globals';
import { isTerminal } from '../../src/core/jobs/batch-status.js';
import { seededRandom } from '../bench/support/seeded-random.js';
import { BatchCrew } from '../support/batch-crew.js';
import { BatchHarness, chatLine } from '../support/batch-harness.js';
import { expectWholeBatch } from '../support/batch-invariants.js';
import { echoAnswer, TargetServer, type TargetCall } from '../support/target-server.js';
import { pause } from '../support/waiting.js';

/** `npm run test:night` sets 50. */
const KILLS = Number(process.env.CHAOS_KILLS ?? 15);
const SLEEPS = Math.ceil(KILLS / 5);
const SEED = Number(process.env.CHAOS_SEED ?? Date.now() % 1_000_000);
const LINES = 2000;
const IDS = Array.from({ length: LINES }, (_, index) => `line-${index}`);
/**
 * Lines that may be sent again after each strike: those in flight, and those of
 * one group commit.
 */
const ONE_CHECKPOINT = 10 + 64;

const slowly = async (call: TargetCall) => {
  await pause(10);
  return echoAnswer(call);
};

const random = seededRandom(SEED);
const below = (limit: number): number => Math.floor(random() * limit);

describe(`a processor struck at random points (seed ${SEED})`, () => {
  it(
    `by kill -9, ${KILLS} times: batches of ${LINES} lines complete, none lost, none twice, one checkpoint sent again`,
    () => strikeBatches(KILLS, (crew, worker) => crew.kill(worker)),
    KILLS * 5000 + 60_000,
  );

  it(
    `by sleep past its lease, ${SLEEPS} times: what it does when it wakes up changes nothing`,
    () => strikeBatches(SLEEPS, (crew, worker, id) => crew.sleepThroughLease(worker, id)),
    SLEEPS * 5000 + 60_000,
  );
});

type Strike = (
  crew: BatchCrew,
  worker: NonNullable<Awaited<ReturnType<BatchCrew['worker']>>>,
  id: string,
) => Promise<void>;

/** One batch after the other, each struck until it ends in spite of it. */
async function strikeBatches(count: number, strike: Strike): Promise<void> {
  await using target = await TargetServer.start(slowly);
  await using harness = await BatchHarness.towards(target);
  // The default of 15 s would be waited for after each of the strikes.
  const crew = new BatchCrew(harness, { 'batch.lease_ms': 500 });
  while (crew.strikes < count) {
    target.calls.length = 0;
    const { id } = await harness.submit(IDS.map(customId => chatLine(customId)));
    while (crew.strikes < count) {
      const worker = await crew.worker(id);
      if (!worker) break;
      await randomPoint(harness, target, id);
      await strike(crew, worker, id);
    }
    expect((await harness.untilEnd(id)).status).toBe('completed');
    const { output } = await expectWholeBatch(harness, id, IDS);
    expect(output).toHaveLength(LINES);
    const { epoch } = await harness.lease(id);
    expect(target.calls.length - LINES).toBeLessThanOrEqual((epoch - 1) * ONE_CHECKPOINT);
  }
}

/**
 * Within the first moments of a claim (ingestion, reading the log), some lines later, or
 * while the files are made.
 */
async function randomPoint(harness: BatchHarness, target: TargetServer, id: string): Promise<void> {
  if (random() < 0.3) return pause(below(80));
  const before = target.calls.length;
  const more = below(120);
  while (target.calls.length < before + more) {
    const { status } = await harness.job(id);
    if (status === 'finalizing') return pause(below(30));
    if (isTerminal(status)) return;
    await pause(2);
  }
}

import { describe, expect, it } from '@jest/globals';
import { type QueueJobResult } from '@switchyard/shared-queue/result.codec.js';
import { syntheticModel } from '../../support/synthetic-model.js';
import { PullQueue } from './pull-harness.js';

/**
 * `hold` stays on the device for ever, `crash` takes the worker down, the rest is
 * answered at once.
 */
const model = syntheticModel({
  steps: 1000,
  baseMs: 1,
  faults: [
    { marker: 'hold', action: 'hang' },
    { marker: 'crash', action: 'crash' },
    { marker: 'slow', action: 'slow', ms: 4000 },
  ],
});

/** The same model on a worker that nothing holds up. */
const sound = syntheticModel({ steps: 1000, baseMs: 1 });

const summary = (result: QueueJobResult) =>
  `${result.outcome} ${result.outcome === 'failed' ? result.error.code : ''}`.trim();

describe('when a worker dies', () => {
  it('a zombie that wakes up is fenced: its late answer is dropped, the other one counts', async () => {
    await using harness = await PullQueue.start({ model });
    const zombie = await harness.worker();
    const job = await harness.submit('slow');
    await harness.until('the zombie has it', () => job.isActive());
    zombie.child.kill('SIGSTOP');
    await harness.worker({ model: sound });
    await harness.until(
      'it is taken over',
      async () => ((await harness.queue.getJob(job.id!))?.stalledCounter ?? 0) > 0,
    );
    zombie.child.kill('SIGCONT');
    await harness.until('the zombie says that it was late', () =>
      zombie.log.includes('late_answer_dropped'),
    );
    const { outcome, phases } = await harness.result(job);
    expect(outcome).toBe('completed');
    expect(phases.attempts).toBeGreaterThan(1);
  });
});

describe('a job that is stopped', () => {
  it('on the device, lets go of it', async () => {
    await using harness = await PullQueue.start({ model });
    await harness.worker();
    const job = await harness.submit('slow');
    await harness.until('it is active', () => job.isActive());
    await harness.stop(job);
    expect(summary(await harness.result(job))).toBe('cancelled');
  });

  it('before a worker took it, is not begun', async () => {
    await using harness = await PullQueue.start({ model });
    const job = await harness.submit('hold');
    await harness.stop(job);
    await harness.worker();
    expect(summary(await harness.result(job))).toBe('cancelled');
  });
});

describe('on SIGTERM', () => {
  it('a worker finishes what it has, gives back what it has not begun without an attempt, and goes', async () => {
    await using harness = await PullQueue.start({
      model,
      sharedQueue: { lockMs: 20_000 },
    });
    const worker = await harness.worker({ shutdownGraceMs: 100 });
    const job = await harness.submit('slow');
    await harness.until('it is active', () => job.isActive());
    worker.child.kill('SIGTERM');
    expect(await worker.exited).toBe(0);
    expect(await harness.announcement('worker-1')).toBeUndefined();
    const found = await harness.queue.getJob(job.id!);
    expect([await found!.getState(), found!.stalledCounter]).toEqual(['prioritized', 0]);
  });
});

import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type DomainError } from '../../../src/core/errors/domain-error.js';
import { WorkerLostError } from '../../../src/core/request/worker-lost.js';
import { type SpeechSink, type WorkerTask } from '../../../src/worker-client/worker-task.js';
import { aRef } from '../../support/requests.js';
import { ids, SchedulerHarness, scraped } from '../../support/scheduler-harness.js';

const speech = (sink: SpeechSink): WorkerTask => ({
  kind: 'synthesize',
  text: 'hi',
  voice: 'v',
  speed: 1,
  format: 'mp3',
  sink,
});

describe('worker loss', () => {
  let harness: SchedulerHarness;

  beforeEach(async () => {
    harness = await SchedulerHarness.start({ settings: { 'batching.policy': 'none' } });
    harness.pool.addWorker('a1', 'alpha');
  });
  afterEach(() => harness.stop());

  it('sends a request again, once, to another worker', async () => {
    const settled = harness.submit('r1');
    await harness.pool.received(1);
    harness.pool.addWorker('a2', 'alpha');
    harness.pool.kill('a1');
    const [, again] = await harness.pool.received(2);
    again!.answer();
    const { settlement, attempts } = await settled;
    expect([settlement.status, attempts, again!.workerId]).toEqual(['completed', 2, 'a2']);
    expect(harness.types('r1')).toEqual(['accepted', 'leased', 'requeued', 'leased', 'settled']);
  });

  it('keeps the place of the request in the line', async () => {
    void harness.submit('first');
    await harness.pool.received(1);
    harness.pool.kill('a1');
    void harness.submitAll(['second', 'third']);
    await harness.settle();
    expect((await harness.scheduler.list()).map(({ id, attempts }) => [id, attempts])).toEqual([
      ['first', 1],
      ['second', 0],
      ['third', 0],
    ]);
  });

  it('fails with worker_lost and a Retry-After when a connection breaks twice while it runs alone', async () => {
    const settled = harness.submit('r1');
    for (const count of [1, 2]) {
      const call = (await harness.pool.received(count))[count - 1]!;
      call.fail(new WorkerLostError('disconnected', 'reset'));
    }
    const { error } = (await settled).settlement as { error: DomainError };
    expect(error.code).toBe('worker_lost');
    expect(error.retryAfterMs).toBeGreaterThanOrEqual(1000);
  });

  it('gives each of eight in flight exactly one answer and one retry, four at a time, with nothing beside', async () => {
    const settled = harness.submitAll(ids(8));
    await harness.pool.received(8);
    harness.pool.kill('a1');
    harness.pool.addWorker('a2', 'alpha');
    for (const sent of [12, 16]) {
      const calls = await harness.pool.received(sent);
      await harness.settle();
      expect(harness.pool.calls).toHaveLength(sent);
      calls.slice(sent - 4).forEach(call => call.answer({ batchSize: 4, batchId: 'again' }));
    }
    const all = await Promise.all(settled);
    expect(all.map(({ settlement, attempts }) => [settlement.status, attempts])).toEqual(
      Array(8).fill(['completed', 2]),
    );
    expect(harness.of('settled')).toHaveLength(8);
    expect(harness.pool.calls).toHaveLength(16);
    expect(await scraped('switchyard_requests_retried_total')).toBe(8);
  });

  it.each(['invalid_audio', 'unsupported_parameter', 'engine_failed'] as const)(
    'never retries %s',
    async code => {
      const settled = harness.submit('r1');
      (await harness.pool.received(1))[0]!.fail(code);
      expect((await settled).settlement).toMatchObject({
        status: 'failed',
        error: { code },
      });
      await harness.settle();
      expect(harness.pool.calls).toHaveLength(1);
    },
  );

  it('never retries speech that has reached its listener', async () => {
    const headers: unknown[] = [];
    const sink = {
      header: (header: unknown) => headers.push(header),
      audio: new PassThrough(),
    };
    const settled = harness.submit('r1', { payload: speech(sink) });
    const [call] = await harness.pool.received(1);
    const { payload: task } = call!.request;
    if (task.kind === 'synthesize')
      task.sink.header({ contentType: 'audio/mpeg', sampleRate: 16000 });
    harness.pool.addWorker('a2', 'alpha');
    harness.pool.kill('a1');
    expect((await settled).settlement).toMatchObject({
      status: 'failed',
      error: { code: 'worker_lost' },
    });
    expect(headers).toEqual([{ contentType: 'audio/mpeg', sampleRate: 16000 }]);
    expect(harness.pool.calls).toHaveLength(1);
  });

  it('retries speech of which nothing was heard', async () => {
    const sink = { header: () => undefined, audio: new PassThrough() };
    const settled = harness.submit('r1', { payload: speech(sink) });
    await harness.pool.received(1);
    harness.pool.addWorker('a2', 'alpha');
    harness.pool.kill('a1');
    (await harness.pool.received(2))[1]!.answer();
    expect((await settled).settlement.status).toBe('completed');
  });

  it('does not count the time at the dead worker against the queue deadline', async () => {
    const settled = harness.submit('r1');
    await harness.pool.received(1);
    harness.clock.advance(200_000);
    harness.pool.kill('a1');
    await harness.settle();
    expect(harness.scheduler.find(aRef('r1'))).toMatchObject({
      state: 'queued',
      attempts: 1,
    });
    harness.pool.addWorker('a2', 'alpha');
    (await harness.pool.received(2))[1]!.answer();
    expect((await settled).settlement.status).toBe('completed');
  });

  it('reports an error without a code as internal_error, not as the text of a stack', async () => {
    const settled = harness.submit('r1');
    (await harness.pool.received(1))[0]!.fail(new Error('cannot read properties of undefined'));
    const { settlement } = await settled;
    expect(settlement).toMatchObject({
      status: 'failed',
      error: { code: 'internal_error' },
    });
    expect((settlement as { error: Error }).error.message).not.toContain('undefined');
  });
});

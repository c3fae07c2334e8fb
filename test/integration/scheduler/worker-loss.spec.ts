import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type DomainError } from '../../../src/core/shared/domain-error.js';
import { type WorkerTask } from '../../../src/gateway/worker-pool/worker-task.js';
import { ids, SchedulerHarness, scraped } from '../../support/scheduler-harness.js';
import { aRef } from '../../support/requests.js';

describe('worker loss', () => {
  let yard: SchedulerHarness;

  beforeEach(async () => {
    yard = await SchedulerHarness.start({ settings: { 'batching.policy': 'none' } });
    yard.pool.addWorker('a1', 'alpha');
  });
  afterEach(() => yard.stop());

  it('sends a request again, once, to another worker', async () => {
    const settled = yard.submit('r1');
    await yard.pool.received(1);
    yard.pool.addWorker('a2', 'alpha');
    yard.pool.kill('a1');
    const [, again] = await yard.pool.received(2);
    again!.answer();
    const { settlement, attempts } = await settled;
    expect([settlement.status, attempts, again!.workerId]).toEqual(['completed', 2, 'a2']);
    expect(yard.types('r1')).toEqual(['accepted', 'leased', 'requeued', 'leased', 'settled']);
  });

  it('keeps the place of the request in the line', async () => {
    void yard.submit('first');
    await yard.pool.received(1);
    yard.pool.kill('a1');
    void yard.submitAll(['second', 'third']);
    await yard.settle();
    expect((await yard.scheduler.list()).map(({ id, attempts }) => [id, attempts])).toEqual([
      ['first', 1],
      ['second', 0],
      ['third', 0],
    ]);
  });

  it('fails with worker_lost and a Retry-After when the second worker dies as well', async () => {
    const settled = yard.submit('r1');
    await yard.pool.received(1);
    yard.pool.kill('a1');
    yard.pool.addWorker('a2', 'alpha');
    await yard.pool.received(2);
    yard.pool.kill('a2');
    const { settlement, attempts } = await settled;
    const { error } = settlement as { error: DomainError };
    expect([error.code, error.definition.status, attempts]).toEqual(['worker_lost', 503, 2]);
    expect(error.retryAfterMs).toBeGreaterThanOrEqual(1000);
  });

  it('gives each of eight in flight exactly one answer and at most one retry', async () => {
    const settled = yard.submitAll(ids(8));
    await yard.pool.received(8);
    yard.pool.kill('a1');
    yard.pool.addWorker('a2', 'alpha');
    const calls = await yard.pool.received(16);
    calls.slice(8).forEach(call => call.answer({ batchSize: 8, batchId: 'again' }));
    const all = await Promise.all(settled);
    expect(all.map(({ settlement, attempts }) => [settlement.status, attempts])).toEqual(
      Array(8).fill(['completed', 2]),
    );
    expect(yard.of('settled')).toHaveLength(8);
    expect(yard.pool.calls).toHaveLength(16);
    expect(await scraped('switchyard_requests_retried_total')).toBe(8);
  });

  it.each(['invalid_audio', 'unsupported_parameter', 'engine_failed'] as const)('never retries %s', async code => {
    const settled = yard.submit('r1');
    (await yard.pool.received(1))[0]!.fail(code);
    expect((await settled).settlement).toMatchObject({ status: 'failed', error: { code } });
    await yard.settle();
    expect(yard.pool.calls).toHaveLength(1);
  });

  it('never retries speech that has reached its listener', async () => {
    const headers: unknown[] = [];
    const sink = { header: (header: unknown) => headers.push(header), audio: new PassThrough() };
    const payload: WorkerTask = { kind: 'synthesize', text: 'hi', voice: 'v', speed: 1, format: 'mp3', sink };
    const settled = yard.submit('r1', { payload });
    const [call] = await yard.pool.received(1);
    const { payload: task } = call!.request;
    if (task.kind === 'synthesize') task.sink.header({ contentType: 'audio/mpeg', sampleRate: 16000 });
    yard.pool.addWorker('a2', 'alpha');
    yard.pool.kill('a1');
    expect((await settled).settlement).toMatchObject({ status: 'failed', error: { code: 'worker_lost' } });
    expect(headers).toEqual([{ contentType: 'audio/mpeg', sampleRate: 16000 }]);
    expect(yard.pool.calls).toHaveLength(1);
  });

  it('retries speech of which nothing was heard', async () => {
    const sink = { header: () => undefined, audio: new PassThrough() };
    const payload: WorkerTask = { kind: 'synthesize', text: 'hi', voice: 'v', speed: 1, format: 'mp3', sink };
    const settled = yard.submit('r1', { payload });
    await yard.pool.received(1);
    yard.pool.addWorker('a2', 'alpha');
    yard.pool.kill('a1');
    (await yard.pool.received(2))[1]!.answer();
    expect((await settled).settlement.status).toBe('completed');
  });

  it('does not count the time at the dead worker against the queue deadline', async () => {
    const settled = yard.submit('r1');
    await yard.pool.received(1);
    yard.clock.advance(200_000);
    yard.pool.kill('a1');
    await yard.settle();
    expect(yard.scheduler.find(aRef('r1'))).toMatchObject({ state: 'queued', attempts: 1 });
    yard.pool.addWorker('a2', 'alpha');
    (await yard.pool.received(2))[1]!.answer();
    expect((await settled).settlement.status).toBe('completed');
  });

  it('reports an error without a code as internal_error, not as the text of a stack', async () => {
    const settled = yard.submit('r1');
    (await yard.pool.received(1))[0]!.fail(new Error('cannot read properties of undefined'));
    const { settlement } = await settled;
    expect(settlement).toMatchObject({ status: 'failed', error: { code: 'internal_error' } });
    expect((settlement as { error: Error }).error.message).not.toContain('undefined');
  });
});

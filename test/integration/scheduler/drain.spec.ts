import { afterEach, describe, expect, it } from '@jest/globals';
import { aRef } from '../../support/requests.js';
import { ids, REALTIME, SchedulerHarness } from '../../support/scheduler-harness.js';

const GRACE = {
  'server.shutdown_grace_ms': 60,
  'cancellation.rpc_timeout_ms': 10,
} as const;

describe('drain', () => {
  let harness: SchedulerHarness;
  let order: string[];

  const start = async (settings: Parameters<typeof SchedulerHarness.start>[0] = {}) => {
    harness = await SchedulerHarness.start(settings);
    order = [];
    harness.pool.onClose = () => order.push('pool closed');
    harness.bus.events$.subscribe(({ type, requestId }) => order.push(`${type} ${requestId}`));
  };

  afterEach(() => harness.stop());

  it('ends at once when nothing runs', async () => {
    await start();
    await harness.drain();
    expect(order).toEqual(['pool closed']);
    expect(harness.scheduler.running).toBe(false);
  });

  it('refuses new work with shutting_down (503) from the first moment on', async () => {
    await start();
    const drained = harness.drain();
    expect(harness.scheduler.accepting).toBe(false);
    expect(() => harness.submit('late')).toThrow(
      expect.objectContaining({ code: 'shutting_down' }),
    );
    await drained;
    expect(() => harness.submit('later')).toThrow(
      expect.objectContaining({
        code: 'shutting_down',
        retryAfterMs: expect.any(Number),
      }),
    );
  });

  it('is one and the same, however often it is asked for', async () => {
    await start();
    const first = harness.drain();
    expect(harness.drain()).toBe(first);
    await first;
    expect(order).toEqual(['pool closed']);
  });

  it('closes windows at once and sends what is queued', async () => {
    await start({
      settings: { 'batching.window_ms': 60_000, 'batching.quiet_gap_ms': 60_000 },
    });
    harness.pool.addWorker('a1', 'alpha');
    const settled = harness.submitAll(ids(3));
    await harness.settle();
    expect(harness.pool.calls).toHaveLength(0);
    const drained = harness.drain();
    (await harness.pool.received(3)).forEach(call => call.answer());
    await drained;
    expect((await Promise.all(settled)).map(({ settlement }) => settlement.status)).toEqual(
      Array(3).fill('completed'),
    );
  });

  it('waits for requests at workers, sends queued ones into slots that become free, closes the pool last', async () => {
    await start({ settings: { 'batching.policy': 'none' } });
    harness.pool.addWorker('a1', 'alpha', { slots: 1 });
    const settled = harness.submitAll(['r1', 'r2']);
    await harness.pool.received(1);
    const drained = harness.drain();
    harness.pool.calls[0]!.answer();
    (await harness.pool.received(2))[1]!.answer();
    await drained;
    expect((await Promise.all(settled)).map(({ settlement }) => settlement.status)).toEqual([
      'completed',
      'completed',
    ]);
    expect(order).toEqual([
      ...['accepted r1', 'accepted r2', 'leased r1', 'settled r1', 'leased r2', 'settled r2'],
      'pool closed',
    ]);
  });

  it('stops what is left when the grace is over: each settled once, workers told, then the pool closes', async () => {
    await start({ settings: { ...GRACE, 'batching.policy': 'none' } });
    harness.pool.addWorker('a1', 'alpha', { slots: 1 });
    const settled = harness.submitAll(['running', 'queued']);
    await harness.pool.received(1);
    await harness.drain();
    const codes = (await Promise.all(settled)).map(({ settlement }) =>
      settlement.status === 'failed' ? settlement.error.code : settlement.status,
    );
    expect(codes).toEqual(['shutting_down', 'shutting_down']);
    expect(harness.pool.cancels).toEqual([
      { workerId: 'a1', requestId: 'running', reason: 'shutdown' },
    ]);
    expect(order.filter(step => step.startsWith('settled'))).toEqual([
      'settled queued',
      'settled running',
    ]);
    expect(order.at(-1)).toBe('pool closed');
  });

  it('closes the pool only when workers have answered the cancel, or their time for it is over', async () => {
    await start({ settings: { ...GRACE, 'batching.policy': 'none' } });
    harness.pool.addWorker('a1', 'alpha');
    void harness.submit('running');
    await harness.pool.received(1);
    let told!: (acknowledged: boolean) => void;
    const asked = new Promise<void>(resolve => {
      harness.pool.onCancel = () => {
        resolve();
        return new Promise(acknowledge => (told = acknowledge));
      };
    });
    const drained = harness.drain();
    await asked;
    await harness.settle();
    expect(harness.pool.closed).toBe(false);
    told(true);
    await drained;
    expect(order.slice(-2)).toEqual(['cancel_signalled running', 'pool closed']);
  });

  it('fails what waits for a model without a worker, when the grace is over', async () => {
    await start({ settings: GRACE });
    const settled = harness.submitAll(ids(3));
    await harness.drain();
    for (const { settlement } of await Promise.all(settled)) {
      expect(settlement).toMatchObject({
        status: 'failed',
        error: { code: 'shutting_down' },
      });
    }
    expect(harness.queue.depth).toBe(0);
  });

  it('still sends a request again whose worker dies meanwhile', async () => {
    await start();
    harness.pool.addWorker('a1', 'alpha');
    const settled = harness.submit('r1', REALTIME);
    await harness.pool.received(1);
    const drained = harness.drain();
    harness.pool.addWorker('a2', 'alpha');
    harness.pool.kill('a1');
    (await harness.pool.received(2))[1]!.answer();
    await drained;
    expect((await settled).settlement.status).toBe('completed');
  });

  it('takes cancels while it waits', async () => {
    await start();
    harness.pool.addWorker('a1', 'alpha');
    const settled = harness.submit('r1', REALTIME);
    await harness.pool.received(1);
    const drained = harness.drain();
    expect(await harness.cancellations.cancel(aRef('r1'), 'client')).toBe(true);
    await drained;
    expect((await settled).settlement.status).toBe('cancelled');
  });

  it('leaves no queued request behind that could be sent after its end', async () => {
    await start({ settings: GRACE });
    void harness.submitAll(ids(3));
    await harness.drain();
    harness.pool.addWorker('a1', 'alpha');
    await harness.settle();
    expect(harness.pool.calls).toEqual([]);
  });

  it('is what closing the application does, before its listeners are told', async () => {
    await start();
    harness.pool.addWorker('a1', 'alpha');
    const settled = harness.submit('r1', REALTIME);
    const [call] = await harness.pool.received(1);
    const closed = harness.app.close();
    await harness.settle();
    expect(harness.scheduler.accepting).toBe(false);
    call!.answer();
    await closed;
    expect((await settled).settlement.status).toBe('completed');
    expect(order).toEqual(['accepted r1', 'leased r1', 'settled r1', 'pool closed']);
  });
});

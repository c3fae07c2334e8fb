import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type FixtureWorker } from '../../support/fixture-worker.js';
import { type GatewayRig, until } from './gateway-rig.js';
import { HeldRig, SLOTS } from './held-rig.js';

let gateway: HeldRig;
let worker: FixtureWorker;
let rig: GatewayRig;
beforeAll(async () => {
  gateway = await HeldRig.start();
  ({ worker, rig } = gateway);
});
afterAll(() => gateway.close());

const look = async (path: string): Promise<Record<string, unknown>> =>
  (await rig.json(`/v1/requests/${path}`)) as Record<string, unknown>;

describe('why a request waits and when it starts', () => {
  it('is unknown before the first answer, then forecast, explained, and sent with a 202', async () => {
    const first = gateway.held('first');
    await until(async () => (await look('first')).state === 'running');
    expect(await look('first')).not.toHaveProperty('forecast');
    worker.releaseAll();
    expect((await first).status).toBe(200);

    const before = worker.received.length;
    const running = Array.from({ length: SLOTS }, (_, index) => gateway.held(`busy-${index}`));
    await worker.arrivals(before + SLOTS);
    const older = gateway.held('older');
    await until(async () => (await look('older')).state === 'queued');
    const waiting = gateway.held('waiting');
    await until(async () => (await look('waiting')).state === 'queued');

    const quantiles = { p50: expect.any(Number), p90: expect.any(Number) };
    const forecast = {
      start_in_ms: quantiles,
      end_in_ms: quantiles,
      basis: 'simulation',
    };
    expect(await look('waiting')).toMatchObject({
      ...{
        position: 2,
        forecast,
        explanation: expect.stringContaining('It will probably start in'),
      },
    });
    expect(await look('waiting/explain')).toMatchObject({
      ...{
        request_id: 'waiting',
        waits_for: 'slot',
        forecast,
        slots: { in_use: SLOTS, total: SLOTS },
      },
      ahead: {
        requests: 1,
        own: 1,
        other_tenants: 0,
        by: { priority: 0, age: 1, fairness: 0 },
      },
      passed: { requests: 0 },
    });

    const accepted = await gateway.held('deferred', {
      headers: { prefer: 'respond-async' },
    });
    expect(accepted.status).toBe(202);
    expect(Number(accepted.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    expect(await accepted.json()).toMatchObject({
      request_id: 'deferred',
      eta_s: expect.any(Number),
    });

    const released = setInterval(() => worker.releaseAll(), 20);
    const answers = await Promise.all([...running, older, waiting]);
    await until(async () => (await look('deferred')).status === 'completed');
    clearInterval(released);
    expect(answers.map(({ status }) => status)).toEqual(Array<number>(SLOTS + 2).fill(200));
    expect(await look('waiting/explain')).toMatchObject({
      ...{ state: 'completed', passed: { requests: 1, own: 1 }, changes: [] },
    });
    expect(await look('waiting')).not.toHaveProperty('forecast');
  });

  it('of an unknown request is 404', async () => {
    const answer = await fetch(`${rig.url}/v1/requests/none/explain`);
    expect([answer.status, await answer.json()]).toMatchObject([
      404,
      { error: { code: 'request_not_found' } },
    ]);
  });
});

import { afterEach, describe, expect, it } from '@jest/globals';
import { ProcessClock } from '../../../src/platform/clock/process-clock.js';
import { type SettingValue } from '../../../src/platform/config/setting-definition.js';
import { type SettingPath } from '../../../src/platform/config/settings.js';
import { errorOf, until } from './gateway-rig.js';
import { HeldRig, SLOTS } from './held-rig.js';

/**
 * What each request takes, as the gateway learns: its clock goes that far ahead while
 * one is computed.
 */
const SERVICE_S = 12;

let gateway: HeldRig;
afterEach(() => gateway.close());

/** A gateway that has seen the model answer once; all slots are taken. */
async function busy(settings: Partial<Record<SettingPath, SettingValue>>): Promise<void> {
  gateway = await HeldRig.start(settings);
  const first = gateway.held('first');
  await gateway.worker.arrivals(1);
  const clock = gateway.rig.app.get(ProcessClock, { strict: false });
  clock.nowMs = () => performance.now() + 1000 * SERVICE_S;
  gateway.worker.releaseAll();
  expect((await first).status).toBe(200);
  // One after the other: together they would not fit into the queue.
  for (let at = 1; at <= SLOTS; at += 1) {
    void gateway.held(`busy-${at}`);
    await gateway.worker.arrivals(1 + at);
  }
}

const stateOf = async (id: string) =>
  ((await gateway.rig.json(`/v1/requests/${id}`)) as { state?: string }).state;

describe('Retry-After of a 429', () => {
  it('is when the request would start, for a queue at its bound', async () => {
    await busy({ 'queue.max_requests_per_model': 1, 'queue.realtime_reserve': 0 });
    void gateway.ask('waits');
    await until(async () => (await stateOf('waits')) === 'queued');
    const refused = await errorOf(gateway.ask('refused'));
    expect(refused).toMatchObject({ status: 429, code: 'queue_full' });
    // By the rate at which requests left in the last seconds it would be one second,
    // spread over four.
    const retryAfterS = Number(refused.headers.get('retry-after'));
    expect(retryAfterS).toBeGreaterThan(SERVICE_S / 2);
    expect(retryAfterS).toBeLessThanOrEqual(60);
  });

  it('is when the first request of the caller ends, for its limit of concurrent requests', async () => {
    await busy({ 'limits.concurrent_requests': SLOTS });
    const refused = await errorOf(gateway.ask('refused'));
    expect(refused).toMatchObject({ status: 429, code: 'rate_limit_exceeded' });
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(SERVICE_S / 2);
  });
});

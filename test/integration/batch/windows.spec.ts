import { describe, expect, it } from '@jest/globals';
import { BatchHarness } from '../../support/batch-harness.js';
import { wav } from '../api/audio-forms.js';
import { until } from '../api/gateway-rig.js';
import { HeldRig, SLOTS } from '../api/held-rig.js';

const ENDPOINT = '/v1/audio/transcriptions';
const HOUR_MS = 3_600_000;

const lines = ['1', '2'].map(id => {
  const audio = `data:audio/wav;base64,${wav(1).toString('base64')}`;
  return JSON.stringify({
    custom_id: id,
    method: 'POST',
    url: ENDPOINT,
    body: { model: 'stt', audio },
  });
});

describe('the lines of two batches of a tenant', () => {
  it('are computed by the end of their completion windows, whichever came first', async () => {
    // Nothing is overtaken by what came `queue.aging_ms` after it.
    const gateway = await HeldRig.start({ 'queue.aging_ms': 2 * HOUR_MS });
    await using harness = await BatchHarness.open({
      settings: { 'batch.gateway_url': gateway.rig.url },
    });
    await harness.host();
    const busy = Array.from({ length: SLOTS }, (_, index) => gateway.held(`busy-${index}`));
    await gateway.worker.arrivals(SLOTS);
    const queued = async (windowMs: number, count: number) => {
      const { id } = await harness.submit(lines, { endpoint: ENDPOINT, windowMs });
      const depth = async () =>
        ((await gateway.rig.json('/admin/v1/queue')) as { total: { batch: number } }).total;
      await until(async () => (await depth()).batch === count);
      return id;
    };
    const late = await queued(3 * HOUR_MS, 2);
    const soon = await queued(HOUR_MS, 4);
    // One slot: one line at a time.
    gateway.worker.release('busy-0');
    await gateway.worker.arrivals(SLOTS + 4);
    const order = gateway.worker.received.slice(SLOTS).map(id => id.replace(/-\d+$/, ''));
    expect(order).toEqual([soon, soon, late, late]);
    for (const id of [late, soon]) expect((await harness.untilEnd(id)).counts.completed).toBe(2);
    gateway.worker.releaseAll();
    await Promise.all(busy);
    await gateway.close();
  });
});

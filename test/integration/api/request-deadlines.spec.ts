import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type FixtureWorker, script } from '../../support/fixture-worker.js';
import { audioForm } from './audio-forms.js';
import { errorOf, type GatewayRig, until } from './gateway-rig.js';
import { HeldRig, SLOTS } from './held-rig.js';

let gateway: HeldRig;
let worker: FixtureWorker;
let rig: GatewayRig;
beforeAll(async () => {
  gateway = await HeldRig.start();
  ({ worker, rig } = gateway);
});
afterAll(() => gateway.close());

describe('X-Deadline-Ms and x-slo-ttft-ms', () => {
  it.each(['X-Deadline-Ms', 'x-slo-ttft-ms'])('%s is whole milliseconds', async name => {
    const error = await errorOf(gateway.ask('wrong', { headers: { [name]: 'soon' } }));
    expect(error).toMatchObject({ status: 400, code: 'invalid_value', param: name });
  });

  it('one that got no slot, an answer in time, and one that cannot come in time are counted', async () => {
    // Nothing is known yet of how long the model takes, so nothing is refused.
    const held = Array.from({ length: SLOTS }, (_, index) => gateway.held(`held-${index}`));
    await until(() => worker.holding.length === SLOTS);
    const missed = await errorOf(gateway.ask('missed', { headers: { 'x-deadline-ms': '2000' } }));
    expect(missed).toMatchObject({ status: 504, code: 'deadline_missed' });
    expect(missed.headers.get('x-should-retry')).toBe('false');
    worker.releaseAll();
    expect((await Promise.all(held)).map(({ status }) => status)).toEqual(Array(SLOTS).fill(200));

    expect((await gateway.ask('met', { headers: { 'x-deadline-ms': '100000' } })).status).toBe(200);
    const tooShort: Record<string, string>[] = [
      { 'x-deadline-ms': '1' },
      { 'x-slo-ttft-ms': '1' },
      { 'x-deadline-ms': '1', prefer: 'respond-async' },
    ];
    for (const headers of tooShort) {
      const error = await errorOf(gateway.ask('refused', { headers }));
      expect(error).toMatchObject({ status: 503, code: 'deadline_unreachable' });
      expect(error.message).toMatch(/^The answer, wanted within 1 ms, would take about \d+ ms/);
      expect(error.headers.get('x-should-retry')).toBe('false');
    }
    expect(worker.received.filter(id => id === 'missed' || id === 'refused')).toEqual([]);
    for (const [outcome, count] of Object.entries({ met: 1, refused: 3, missed: 1 }))
      expect(await rig.metric(`switchyard_deadlines_total{outcome="${outcome}",model="stt"}`)).toBe(
        count,
      );
  });

  it('x-slo-ttft-ms of a stream is met by its first output', async () => {
    const met = async () =>
      (await rig.metric('switchyard_deadlines_total{outcome="met",model="stt"}')) || 0;
    const before = await met();
    const fields = { stream: 'true', prompt: script.say('one', 'two') };
    const init = { headers: { 'x-slo-ttft-ms': '100000' } };
    const streamed = await rig.post('/v1/audio/transcriptions', audioForm({ fields }), init);
    expect(await streamed.text()).toContain('[DONE]');
    await until(async () => (await met()) === before + 1);
  });
});

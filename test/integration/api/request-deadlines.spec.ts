import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { FixtureWorker, script } from '../../support/fixture-worker.js';
import { audioForm } from './audio-forms.js';
import { errorOf, GatewayRig, until } from './gateway-rig.js';
import { sttModel } from './models.js';

const PATH = '/v1/audio/transcriptions';
/** The fixture takes groups of 4 and one more ahead (D-24). */
const SLOTS = 8;

let worker: FixtureWorker;
let rig: GatewayRig;
beforeAll(async () => {
  worker = new FixtureWorker({ model: 'stt' });
  const addresses = [`127.0.0.1:${await worker.start()}`];
  rig = await GatewayRig.start({ models: [sttModel({ addresses, capabilities: ['transcribe', 'prompt'] })] });
  await rig.ready('stt');
});
afterAll(async () => {
  worker.releaseAll();
  await rig.close();
  worker.stop();
});

const ask = (id: string, headers: Record<string, string> = {}, prompt = ''): Promise<Response> =>
  rig.post(PATH, audioForm({ fields: { ...(prompt && { prompt }) } }), { headers: { 'x-request-id': id, ...headers } });

describe('X-Deadline-Ms and x-slo-ttft-ms', () => {
  it.each(['X-Deadline-Ms', 'x-slo-ttft-ms'])('%s is whole milliseconds', async name => {
    const error = await errorOf(ask('wrong', { [name]: 'soon' }));
    expect(error).toMatchObject({ status: 400, code: 'invalid_value', param: name });
  });

  it('one that got no slot, an answer in time, and one that cannot come in time are counted', async () => {
    // Nothing is known yet of how long the model takes, so nothing is refused.
    const held = Array.from({ length: SLOTS }, (_, index) => ask(`held-${index}`, {}, script.hold));
    await until(() => worker.holding.length === SLOTS);
    const missed = await errorOf(ask('missed', { 'x-deadline-ms': '2000' }));
    expect(missed).toMatchObject({ status: 504, code: 'deadline_missed' });
    expect(missed.headers.get('x-should-retry')).toBe('false');
    worker.releaseAll();
    expect((await Promise.all(held)).map(({ status }) => status)).toEqual(Array(SLOTS).fill(200));

    expect((await ask('met', { 'x-deadline-ms': '100000' })).status).toBe(200);
    const tooShort: Record<string, string>[] = [
      { 'x-deadline-ms': '1' },
      { 'x-slo-ttft-ms': '1' },
      { 'x-deadline-ms': '1', prefer: 'respond-async' },
    ];
    for (const headers of tooShort) {
      const error = await errorOf(ask('refused', headers));
      expect(error).toMatchObject({ status: 503, code: 'deadline_unreachable' });
      expect(error.message).toMatch(/^The answer, wanted within 1 ms, would take about \d+ ms/);
      expect(error.headers.get('x-should-retry')).toBe('false');
    }
    expect(worker.received.filter(id => id === 'missed' || id === 'refused')).toEqual([]);
    for (const [outcome, count] of Object.entries({ met: 1, refused: 3, missed: 1 }))
      expect(await rig.metric(`switchyard_deadlines_total{outcome="${outcome}",model="stt"}`)).toBe(count);
  });
});

import { expect, it } from '@jest/globals';
import { onDevice } from '../../support/device-rig.js';
import { describeWith, REDIS } from '../../support/requires.js';
import { pause } from '../../support/waiting.js';
import { GatewayPair } from './gateway-pair.js';

const IDS = ['a', 'b', 'c'];
/** Of three, two fit. */
const MODELS = IDS.map(id => onDevice(id));
const FIT = 2;
const OK = { status: 200 };
const OUT_OF_MEMORY = 'out of memory: 8.1 GiB wanted';

describeWith(REDIS)('two gateways with one Redis, and one device for both', () => {
  it('load each model once, whichever of them is asked, and say at both why one cannot be', async () => {
    const broken = onDevice('broken', {}, { loadMs: 200, loadError: OUT_OF_MEMORY });
    await using pair = await GatewayPair.start([...MODELS, broken]);
    const askBoth = (model: string) =>
      Promise.all(pair.gateways.map(gateway => pair.ask(gateway, model)));
    expect((await Promise.all(['a', 'b'].map(askBoth))).flat()).toMatchObject([OK, OK, OK, OK]);
    expect([await pair.loads('a'), await pair.loads('b')]).toEqual([1, 1]);
    const [holder, other] = await pair.roles();
    expect(await pair.device(other)).toMatchObject({
      ...{ used_bytes: 0, loaded_by: expect.stringMatching(/^gw_/) },
    });
    expect((await pair.device(holder)).used_bytes).toBe(10 * 2 ** 30);
    expect(await pair.stateOf(other, 'a')).toBe('loaded');
    const models = ['c', 'a', 'b', 'c', 'b', 'a', 'c'];
    const answers = await Promise.all(
      models.map(async (model, at) => {
        await pause(at * 150);
        return pair.ask(pair.gateways[at % 2]!, model, at % 3 === 0 ? 'realtime' : 'batch');
      }),
    );
    expect(answers).toMatchObject(models.map(() => OK));
    const refused = await other.call('POST', '/admin/v1/models/c/load');
    expect([refused.status, refused.body.toString()]).toEqual([
      409,
      expect.stringContaining('worker_not_supervised'),
    ]);
    expect((await holder.call('POST', '/admin/v1/models/c/load')).status).toBe(200);
    const failed = await pair.ask(other, 'broken');
    expect([failed.status, failed.body]).toEqual([503, expect.stringContaining(OUT_OF_MEMORY)]);
    expect(failed.body).toContain('model_load_failed');
    expect(pair.most).toBe(FIT);
  });

  it('let what runs end before its model leaves, also what the other gateway sent', async () => {
    const slow = { faults: [{ marker: 'long', action: 'slow', ms: 6000 }] };
    const large = { memory: '8GiB', min_residence_s: 0 };
    await using pair = await GatewayPair.start([onDevice('a', large, slow), onDevice('b', large)]);
    const [holder, other] = await pair.roles();
    const ended: string[] = [];
    const asked = async (name: string, answer: ReturnType<GatewayPair['ask']>) => {
      expect(await answer).toMatchObject(OK);
      ended.push(name);
    };
    const long = asked('long', pair.ask(other, 'a', 'batch', 'long'));
    await pair.until('a computes it', async () => {
      const { body } = await holder.call('GET', '/admin/v1/requests?state=running');
      return (JSON.parse(body.toString()) as { total: number }).total === 1;
    });
    await Promise.all([long, asked('b', pair.ask(other, 'b', 'realtime'))]);
    expect(ended).toEqual(['long', 'b']);
    expect([await pair.loads('a'), pair.most]).toEqual([1, 1]);
  });
});

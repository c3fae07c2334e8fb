import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { isAlive } from '@switchyard/engine-api/process/is-alive.js';
import { DEVICE_LEASE_MS } from '@switchyard/shared-queue/client/device-leases.js';
import { QueueKeys } from '@switchyard/shared-queue/keys.js';
import { onDevice } from '../../support/device-rig.js';
import { describeWith, REDIS } from '../../support/requires.js';
import { pause } from '../../support/waiting.js';
import { GatewayPair } from './gateway-pair.js';

const IDS = ['a', 'b', 'c'];
/** Of `IDS`. */
const FIT = 2;
/** Of each, one fits. */
const LARGE = { memory: '8GiB', min_residence_s: 0 };
const OK = { status: 200 };
const OUT_OF_MEMORY = 'out of memory: 8.1 GiB wanted';
const MODELS = [
  ...IDS.map(id => onDevice(id)),
  onDevice('large-a', LARGE, { faults: [{ marker: 'long', action: 'slow', ms: 6000 }] }),
  onDevice('large-b', LARGE),
  onDevice('broken', {}, { loadMs: 200, loadError: OUT_OF_MEMORY }),
];

describeWith(REDIS)('two gateways with one Redis, and one device for both', () => {
  let pair: GatewayPair;
  beforeAll(async () => {
    pair = await GatewayPair.start(MODELS);
  });
  beforeEach(() => pair.again());
  afterAll(() => pair[Symbol.asyncDispose]());

  it('let what runs end before its model leaves, also what the other gateway sent', async () => {
    const [holder, other] = await pair.roles();
    const ended: string[] = [];
    const asked = async (name: string, answer: ReturnType<GatewayPair['ask']>) => {
      expect(await answer).toMatchObject(OK);
      ended.push(name);
    };
    const long = asked('long', pair.ask(other, 'large-a', 'batch', 'long'));
    await pair.until('a computes it', async () => {
      const { body } = await holder.call('GET', '/admin/v1/requests?state=running');
      return (JSON.parse(body.toString()) as { total: number }).total === 1;
    });
    await Promise.all([long, asked('b', pair.ask(other, 'large-b', 'realtime'))]);
    expect(ended).toEqual(['long', 'b']);
    expect([await pair.loads('large-a'), pair.most]).toEqual([1, 1]);
  });

  it('load each model once, whichever of them is asked, and say at both why one cannot be', async () => {
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

  it('kill -9 of the one that loads: its models end, and the other one loads what is asked', async () => {
    const [holder, other] = await pair.roles();
    expect(await Promise.all([pair.ask(other, 'a'), pair.ask(holder, 'b')])).toMatchObject([
      OK,
      OK,
    ]);
    await pair.until('both processes are seen', () => pair.alive.length === FIT);
    const before = pair.alive;
    await pair.kill(holder);
    const answers = await Promise.all(IDS.map(id => pair.ask(other, id)));
    expect(answers).toMatchObject([OK, OK, OK]);
    expect(before.filter(pid => isAlive(pid))).toEqual([]);
    expect(await pair.device(other)).not.toHaveProperty('loaded_by');
    expect(pair.most).toBe(FIT);
  });

  it('one that is stopped gives the device back before it ends', async () => {
    const [holder, other] = await pair.roles();
    expect(await pair.ask(other, 'a')).toMatchObject(OK);
    const before = pair.alive;
    const { loaded_by: id } = await pair.device(other);
    const lease = new QueueKeys('switchyard').device('gpu0');
    const owner = async () => (await pair.client.get(lease))?.split(' ')[0];
    expect(await owner()).toBe(id);
    await pair.stop(holder);
    expect(await owner()).not.toBe(id);
    expect(before.filter(pid => isAlive(pid))).toEqual([]);
    expect(await pair.ask(other, 'a')).toMatchObject(OK);
  });

  it('one that freezes loses the device: its models serve until it is back, and leave then', async () => {
    const [holder, other] = await pair.roles();
    await Promise.all([pair.ask(holder, 'a'), pair.ask(holder, 'b')]);
    const before = pair.alive;
    pair.freeze(holder);
    await pair.until(
      'the other one has the device',
      async () => (await pair.device(other)).loaded_by === undefined,
    );
    const c = pair.ask(other, 'c', 'realtime');
    expect(await pair.ask(other, 'a')).toMatchObject(OK);
    expect([...pair.alive].sort()).toEqual([...before].sort());
    pair.thaw(holder);
    expect(await c).toMatchObject(OK);
    expect((await pair.device(holder)).loaded_by).toMatch(/^gw_/);
    expect(before.filter(pid => isAlive(pid))).toEqual([]);
    expect(pair.most).toBe(FIT);
  });

  it('keep what is loaded while Redis is away, and go on when it is back, empty', async () => {
    await Promise.all([pair.ask(pair.gateways[0]!, 'a'), pair.ask(pair.gateways[1]!, 'b')]);
    const before = pair.alive;
    const [holder] = await pair.roles();
    await pair.redis.kill();
    const ready = (status: number) =>
      pair.until(`ready is ${status}`, async () => {
        const replies = pair.gateways.map(one => one.call('GET', '/health/ready'));
        return (await Promise.all(replies)).every(reply => reply.status === status);
      });
    await ready(503);
    await pause(DEVICE_LEASE_MS + 1000);
    await pair.redis.restart();
    await ready(200);
    const loaded = pair.gateways.flatMap(one => ['a', 'b'].map(id => pair.ask(one, id)));
    expect(await Promise.all(loaded)).toMatchObject(loaded.map(() => OK));
    expect((await pair.roles())[0]).toBe(holder);
    expect([...pair.alive].sort()).toEqual([...before].sort());
    expect(await pair.ask(pair.gateways[1]!, 'c')).toMatchObject(OK);
    expect(pair.most).toBe(FIT);
  });
});

import { expect, it } from '@jest/globals';
import { isAlive } from '@switchyard/engine-api/process/is-alive.js';
import { DEVICE_LEASE_MS } from '@switchyard/shared-queue/client/device-leases.js';
import { QueueKeys } from '@switchyard/shared-queue/keys.js';
import { onDevice } from '../../support/device-rig.js';
import { describeWith, REDIS } from '../../support/requires.js';
import { pause } from '../../support/waiting.js';
import { GatewayPair } from './gateway-pair.js';

const IDS = ['a', 'b', 'c'];
/** Of three, two fit. */
const MODELS = IDS.map(id => onDevice(id));
const FIT = 2;
const OK = { status: 200 };

describeWith(REDIS)('two gateways with one Redis, and one device for both', () => {
  it('kill -9 of the one that loads: its models end, and the other one loads what is asked', async () => {
    await using pair = await GatewayPair.start(MODELS);
    const [holder, other] = await pair.roles();
    expect(await Promise.all([pair.ask(other, 'a'), pair.ask(holder, 'b')])).toMatchObject([
      OK,
      OK,
    ]);
    const before = pair.alive;
    expect(before).toHaveLength(FIT);
    await pair.kill(holder);
    const answers = await Promise.all(IDS.map(id => pair.ask(other, id)));
    expect(answers).toMatchObject([OK, OK, OK]);
    expect(before.filter(pid => isAlive(pid))).toEqual([]);
    expect(await pair.device(other)).not.toHaveProperty('loaded_by');
    expect(pair.most).toBe(FIT);
  });

  it('one that is stopped gives the device back before it ends', async () => {
    await using pair = await GatewayPair.start([onDevice('a')]);
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
    await using pair = await GatewayPair.start(MODELS);
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
    await using pair = await GatewayPair.start(MODELS);
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

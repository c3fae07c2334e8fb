import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type LiveQueueLine } from '../../../src/contracts/events/live-event.js';
import { formOf } from '../../support/form-of.js';
import { RedisServer } from '../../support/redis-server.js';
import { describeWith, REDIS } from '../../support/requires.js';
import { GatewayRig, until } from '../api/gateway-rig.js';
import { sttModel } from '../api/models.js';
import { bearer, KeysFolder } from '../auth/keys-folder.js';
import { FeedClient } from './feed-client.js';

const suite = describeWith(REDIS);

suite('two gateways and one Redis', () => {
  let redis: RedisServer;
  let folder: KeysFolder;
  let first: GatewayRig;
  let second: GatewayRig;
  const keys = { acme: '', other: '' };

  const gateway = () =>
    GatewayRig.start({
      models: [sttModel()],
      settings: { 'redis.url': redis.url, 'auth.keys_file': folder.file },
    });

  beforeAll(async () => {
    redis = await RedisServer.start();
    folder = new KeysFolder();
    keys.acme = folder.add('acme', 'inference', 'events');
    keys.other = folder.add('other', 'inference', 'events');
    [first, second] = [await gateway(), await gateway()];
  });
  afterAll(async () => {
    await Promise.all([first.close(), second.close()]);
    await redis[Symbol.asyncDispose]();
  });

  /** Waits: there is no worker. */
  const send = (rig: GatewayRig, id: string) =>
    rig.post('/v1/audio/transcriptions', formOf({ model: 'stt' }), {
      headers: { ...bearer(keys.acme), 'x-request-id': id },
    });
  const cancel = (rig: GatewayRig, id: string) =>
    rig.post(`/v1/requests/${id}/cancel`, {}, { headers: bearer(keys.acme) });
  const waiting = (client: FeedClient) =>
    client
      .view('queue')
      .snapshots()
      .reduce((sum, { state }) => sum + (state.stt as LiveQueueLine).batch, 0);

  it('tell a client of one about requests of the other: what is there, and what comes', async () => {
    const answers = [send(second, 'before')];
    using client = await FeedClient.connect(first.url, keys.acme);
    await client.join('request:before');
    await client.join('request:after');
    await until(() => client.request('before')?.state === 'queued');
    answers.push(send(second, 'after'));
    await until(() => client.request('after')?.state === 'queued');
    for (const id of ['before', 'after']) await cancel(second, id);
    await until(() => ['before', 'after'].every(id => client.request(id)?.state === 'cancelled'));
    expect(client.gaps).toBe(0);
    await Promise.all(answers);
  });

  it('give the queue in parts, one for each', async () => {
    using client = await FeedClient.connect(first.url, keys.acme);
    await client.join('queue');
    await until(() => client.view('queue').snapshots().length === 2);
    const answers = [send(first, 'a'), send(second, 'b'), send(second, 'c')];
    await until(() => waiting(client) === 3);
    await Promise.all([cancel(first, 'a'), cancel(second, 'b'), cancel(second, 'c')]);
    await until(() => waiting(client) === 0);
    await Promise.all(answers);
  });

  it("keep a tenant's request from others across gateways as well", async () => {
    using other = await FeedClient.connect(first.url, keys.other);
    using acme = await FeedClient.connect(first.url, keys.acme);
    for (const client of [other, acme]) await client.join('request:secret');
    const answer = send(second, 'secret');
    await until(() => acme.request('secret')?.state === 'queued');
    await cancel(second, 'secret');
    await until(() => acme.request('secret')?.state === 'cancelled');
    expect([other.deltas, other.snapshots, await other.sync('request:secret')]).toMatchObject([
      [],
      [],
      { found: false },
    ]);
    await answer;
  });

  it('serve on while Redis is away, and find each other again when it is back', async () => {
    using client = await FeedClient.connect(first.url, keys.acme);
    await client.join('queue');
    await until(() => client.view('queue').snapshots().length === 2);
    await redis.kill();
    const answers = [send(first, 'away-1'), send(second, 'away-2')];
    await until(() => waiting(client) === 1);
    await redis.restart();
    // The next change of the other gateway shows that one was missed, and the
    // gap is mended.
    await until(async () => {
      answers.push(send(second, `back-${answers.length}`));
      await new Promise(resolve => setTimeout(resolve, 150));
      return waiting(client) === answers.length;
    });
    expect(
      (await second.post('/v1/requests/away-2/cancel', {}, { headers: bearer(keys.acme) })).status,
    ).toBe(200);
    await cancel(first, 'away-1');
    for (let i = 2; i < answers.length; i++) await cancel(second, `back-${i}`);
    await Promise.all(answers);
  });

  it('take the part of one that stopped out of the picture', async () => {
    const third = await gateway();
    using client = await FeedClient.connect(first.url, keys.acme);
    await client.join('queue');
    await until(() => client.view('queue').snapshots().length === 3);
    await third.close();
    await until(() => client.view('queue').snapshots().length === 2);
  });
});

import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { formOf } from '../support/form-of.js';
import { GatewayProcess } from '../support/gateway-process.js';
import { silentWav } from '../support/http-request.js';
import { Product } from '../support/product.js';
import { redisClient } from '../support/redis-client.js';
import { type RedisServer } from '../support/redis-server.js';
import { describeWith, REDIS } from '../support/requires.js';
import { stt } from '../support/scheduler-harness.js';
import { ScriptedPuller } from '../support/scripted-puller.js';
import { Sentinels } from '../support/sentinels.js';
import { syntheticModel } from '../support/synthetic-model.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { pause, until } from '../support/waiting.js';

const LIMIT_MS = 120_000;

describeWith(REDIS)('a gateway behind Sentinels', () => {
  let sentinels: Sentinels;
  let gateway: GatewayProcess;
  const models = [{ ...stt('alpha'), addresses: [] }];
  const start = (masterName: string, folder: string) =>
    GatewayProcess.start(
      models,
      {
        ...{ 'queue.driver': 'redis', 'requests.idempotency': 'off' },
        ...{ 'redis.sentinels': sentinels.url, 'redis.master_name': masterName },
        'data.dir': join(folder, 'data'),
      },
      { folder, until: 'live' },
    );

  beforeAll(async () => {
    sentinels = await Sentinels.start();
    gateway = await start(sentinels.masterName, temporaryFolder());
  }, LIMIT_MS);
  afterAll(async () => {
    await gateway[Symbol.asyncDispose]();
    await sentinels[Symbol.asyncDispose]();
  });

  /** A worker that knows one server, as the test follows the failover by hand. */
  const puller = (server: RedisServer) =>
    ScriptedPuller.start({ url: sentinels.urlOf(server), model: 'alpha', lockMs: 3000 });

  async function promoted(server: RedisServer): Promise<void> {
    const client = redisClient(sentinels.urlOf(server));
    while (!(await client.info('replication')).includes('role:master')) await pause(50);
    client.disconnect();
  }

  async function transcribe(id: string): Promise<number> {
    const form = formOf({ model: 'alpha' }, silentWav());
    const answer = await fetch(`http://127.0.0.1:${gateway.port}/v1/audio/transcriptions`, {
      method: 'POST',
      body: form,
      headers: { 'x-request-id': id },
    });
    await answer.text();
    return answer.status;
  }

  it(
    'loses nothing that it accepted when a replica without the last writes takes over',
    async () => {
      const first = await puller(sentinels.primary);
      const early = transcribe('replicated');
      const held = await first.take();
      await pause(300);
      sentinels.replica.pause();
      const late = Array.from({ length: 5 }, (_, at) => transcribe(`only-at-the-primary-${at}`));
      // Accepted, and in the primary's memory alone.
      const primary = redisClient(sentinels.urlOf(sentinels.primary));
      while ((await primary.zcard('switchyard:requests-alpha:prioritized')) < late.length)
        await pause(20);
      primary.disconnect();
      await first.die();
      await sentinels.primary.kill();
      sentinels.replica.resume();
      await promoted(sentinels.replica);
      await using second = await puller(sentinels.replica);
      await second.takeOver();
      const all = [early, ...late];
      const served = new Set<string>();
      while (served.size < all.length) {
        const job = await second.take();
        served.add(job.id);
        await job.complete();
      }
      expect(served).toContain(held.id);
      expect(await Promise.all(all)).toEqual(all.map(() => 200));
      expect((await gateway.call('GET', '/health/ready')).status).toBe(200);
    },
    LIMIT_MS,
  );

  it(
    'and its workers answer all that came before, during and after a failover',
    async () => {
      await using crew = await Sentinels.start();
      await using product = await Product.start([syntheticModel({ baseMs: 20, maxBatch: 2 })], {
        ...{ 'queue.driver': 'redis', 'requests.idempotency': 'off' },
        ...{ 'redis.sentinels': crew.url, 'redis.master_name': crew.masterName },
      });
      const answers: Promise<Response>[] = [];
      const send = (count: number) => {
        for (let at = 0; at < count; at++)
          answers.push(product.transcribe(`clip ${answers.length}`));
      };
      send(40);
      await Promise.all(answers.slice(0, 4));
      await crew.primary.kill();
      await promoted(crew.replica);
      await until(async () => (await product.gateway.call('GET', '/health/ready')).status === 200);
      send(20);
      const done = await Promise.all(answers);
      const texts = await Promise.all(done.map(answer => answer.text()));
      // What was refused while nobody was the master was not accepted, and the caller was told so.
      const refused = texts.filter(text => text.includes('queue_unavailable'));
      const served = done.filter(({ status }) => status === 200);
      expect(served.length + refused.length).toBe(60);
      expect(done.slice(40).map(({ status }) => status)).toEqual(Array(20).fill(200));
      expect(served.length).toBeGreaterThan(20);
    },
    LIMIT_MS,
  );

  it(
    'does not start with a name that the Sentinels do not know, and says both settings',
    async () => {
      await expect(start('other', temporaryFolder())).rejects.toThrow(
        'The Sentinels of redis.sentinels know no Redis of the name other (redis.master_name)',
      );
    },
    LIMIT_MS,
  );
});

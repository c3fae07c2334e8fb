import { resolve } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type Redis } from 'ioredis';
import { type ModelSpec } from '../../../src/platform/config/model-spec.js';
import { GatewayProcess } from '../../support/gateway-process.js';
import { redisClient } from '../../support/redis-client.js';
import { RedisServer } from '../../support/redis-server.js';
import { describeWith, REDIS } from '../../support/requires.js';
import { syntheticModel } from '../../support/synthetic-model.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

const LIMIT_MS = 90_000;

/** 2 s on the device, in 40 parts. */
const model = syntheticModel(
  { baseMs: 2000, steps: 40 },
  { id: 'voice', kind: 'tts', capabilities: ['speech'], voices: { alloy: 'synthetic' } },
);

/** With generated weights: it speaks sentences in turns. */
const turns: ModelSpec = {
  ...model,
  id: 'turns',
  engine: 'sherpa-onnx',
  voices: { alloy: '1' },
  options: { modelDir: resolve('test/fixtures/sherpa/vits') },
};

describeWith(REDIS)('speech through the queue in Redis', () => {
  let redis: RedisServer;
  let client: Redis;
  let folder: string;
  let gateway: GatewayProcess;

  beforeAll(async () => {
    redis = await RedisServer.start();
    client = redisClient(redis.url);
    folder = temporaryFolder();
    const settings = {
      'queue.driver': 'redis',
      'redis.url': redis.url,
      'requests.idempotency': 'off',
    } as const;
    gateway = await GatewayProcess.start([model, turns], settings, { folder });
  }, LIMIT_MS);

  afterAll(async () => {
    await gateway[Symbol.asyncDispose]();
    client.disconnect();
    await redis[Symbol.asyncDispose]();
  }, LIMIT_MS);

  const speak = (input: string, of = 'voice'): Promise<Response> =>
    fetch(`http://127.0.0.1:${gateway.port}/v1/audio/speech`, {
      method: 'POST',
      body: JSON.stringify({
        model: of,
        input,
        voice: 'alloy',
        response_format: 'pcm',
      }),
      headers: { 'content-type': 'application/json', 'x-priority': 'realtime' },
    });
  const active = (): Promise<number> => client.llen('switchyard:requests-voice:active');

  it(
    'brings the first bytes while the worker still makes the last, then all of them',
    async () => {
      const answer = await speak(
        'A sentence that takes a while to say, and a while longer to make.',
      );
      const reader = answer.body!.getReader();
      const first = await reader.read();
      expect([answer.status, (first.value?.length ?? 0) > 0, await active()]).toEqual([
        200,
        true,
        1,
      ]);
      let bytes = first.value!.length;
      for (let next = await reader.read(); !next.done; next = await reader.read())
        bytes += next.value.length;
      expect(await active()).toBe(0);
      const again = await (
        await speak('A sentence that takes a while to say, and a while longer to make.')
      ).arrayBuffer();
      expect(bytes).toBe(again.byteLength);
    },
    LIMIT_MS,
  );

  it(
    'ends a speech in the middle when its listener leaves: the worker is told, nothing stays subscribed',
    async () => {
      const answer = await speak('Nobody will hear the end of this.');
      const reader = answer.body!.getReader();
      await reader.read();
      await reader.cancel();
      for (let left = await active(); left > 0; left = await active())
        await new Promise(next => setTimeout(next, 20));
      expect(await client.pubsub('CHANNELS', 'switchyard:plane:speech:*')).toEqual([]);
    },
    LIMIT_MS,
  );

  it(
    'lets everybody hear the first sentence while a long speech is made, each with all of it',
    async () => {
      const long = await speak('The train leaves at seven. '.repeat(60), 'turns');
      const rest = long.arrayBuffer();
      let isMade = false;
      void rest.then(() => (isMade = true));
      const answers = await Promise.all([1, 2, 3, 4].map(() => speak('One. Two. Three.', 'turns')));
      const lengths = answers.map(async answer => (await answer.arrayBuffer()).byteLength);
      expect(new Set(await Promise.all(lengths)).size).toBe(1);
      expect(isMade).toBe(false);
      const alone = await (await speak('The train leaves at seven. ', 'turns')).arrayBuffer();
      const length = (await rest).byteLength;
      expect(Math.abs(length / 60 - alone.byteLength)).toBeLessThan(100);
    },
    LIMIT_MS,
  );
});

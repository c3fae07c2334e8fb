import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { RealtimeClient, TRANSCRIPTION } from '../../support/realtime-client.js';
import { describeWith, REDIS } from '../../support/requires.js';
import { pause } from '../../support/waiting.js';
import { TwoGateways } from './two-gateways.js';

/** It starts two processes. */
const LIMIT_MS = 180_000;
const RATE = 16_000;
const FRAME_MS = 100;
const FRAME = Buffer.alloc((RATE * 2 * FRAME_MS) / 1000, 7);

describeWith(REDIS)('words of a live session at one of two gateways', () => {
  let harness: TwoGateways;
  let client: RealtimeClient;

  beforeAll(async () => {
    const settings = { 'realtime.interim_ms': 300 };
    harness = await TwoGateways.start(settings, {}, { capabilities: ['transcribe'] });
    client = await RealtimeClient.open(`http://127.0.0.1:${harness.b.port}`, { model: 'alpha' });
    client.update({ format: { type: 'audio/pcm', rate: RATE }, turn_detection: null });
    await client.next('session.updated');
  }, LIMIT_MS);
  afterAll(async () => {
    client.socket.close(1000);
    await client.closed;
    await harness[Symbol.asyncDispose]();
  }, LIMIT_MS);

  /** Requests that the gateway of the session has made. */
  const made = async (): Promise<number> =>
    (await harness.b.scrape()).sum('switchyard_requests_accepted_total');
  /** Speaks until there is one more. */
  const speakUntil = async (count: number): Promise<void> =>
    harness.until(`${count} requests of the session`, async () => {
      client.say(FRAME);
      return (await made()) >= count;
    });

  it(
    'come while nothing waits; none are asked for while a file waits at the other one, and again when it is answered',
    async () => {
      const { puller } = harness;
      await speakUntil(1);
      await (await puller.take()).complete();
      client.commit();
      let final = await puller.take();
      for (; final.data.priority !== 'realtime'; final = await puller.take())
        await final.complete();
      await final.complete();
      await client.next(`${TRANSCRIPTION}.completed`);

      const file = harness.transcribe(harness.a, 'file');
      await harness.waiting(1);
      const before = await made();
      for (let frame = 0; frame < 10; frame++) {
        client.say(FRAME);
        await pause(FRAME_MS);
      }
      expect(await made()).toBe(before);

      await (await puller.take()).complete();
      expect((await file).status).toBe(200);
      await speakUntil(before + 1);
      expect((await puller.take()).data).toMatchObject({ priority: 'batch' });
    },
    LIMIT_MS,
  );
});

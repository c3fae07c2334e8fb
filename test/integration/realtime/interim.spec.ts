import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type DispatchEvent } from '../../../src/core/dispatch/dispatch-event.js';
import { DispatchEventBus } from '../../../src/platform/events/events.module.js';
import { pcmWav } from '../../support/pcm-wav.js';
import { RealtimeClient, TRANSCRIPTION } from '../../support/realtime-client.js';
import { type GatewayRig, until } from '../api/gateway-rig.js';
import { realtimeRig } from './realtime-rig.js';

const RATE = 16_000;
/** Milliseconds of audio that nobody understands. */
const audio = (ms: number): Buffer => Buffer.alloc((RATE * 2 * ms) / 1000, 7);

let rig: GatewayRig;
let client: RealtimeClient;
let events: DispatchEvent[];
beforeAll(async () => {
  rig = await realtimeRig({
    model: { capabilities: ['transcribe'] },
    engine: { perItemMs: 100 },
    settings: { 'realtime.interim_ms': 300 },
  });
  rig.app.get(DispatchEventBus, { strict: false }).events$.subscribe(event => events.push(event));
});
afterAll(() => rig.close());
beforeEach(async () => {
  events = [];
  client = await RealtimeClient.synthetic(rig.url);
});
afterEach(async () => {
  client.socket.close(1000);
  await client.closed;
});

const isPass = ({ requestId }: DispatchEvent) => /\.\d+\.\d+\.\d+$/.test(requestId);
const ended = (matches: (event: DispatchEvent) => boolean) =>
  events.flatMap(event => (event.type === 'settled' && matches(event) ? [event.status] : []));
const passes = () => events.filter(event => event.type === 'accepted' && isPass(event)).length;
const transcribe = (wav: Buffer<ArrayBuffer>) => {
  const form = new FormData();
  form.append('model', 'synthetic');
  form.append('file', new Blob([wav]), 'file.wav');
  return rig.post('/v1/audio/transcriptions', form);
};

describe('a model without live streams', () => {
  it('sends words while they are spoken: those that two passes heard; the final text is that of the whole', async () => {
    client.say(audio(300));
    await until(() => ended(isPass).length === 1);
    client.say(audio(300));
    const { delta } = await client.next(`${TRANSCRIPTION}.delta`);
    expect(delta).toBe('synthetic transcript');
    client.commit();
    const { transcript } = await client.next(`${TRANSCRIPTION}.completed`);
    const { text } = (await (await transcribe(pcmWav(audio(600), RATE))).json()) as {
      text: string;
    };
    expect(transcript).toBe(text);
    expect(ended(isPass)).toEqual(['completed', 'completed']);
  });

  it('each pass is a request of its tenant, in the class BATCH', async () => {
    client.say(audio(300));
    await until(() => ended(isPass).length === 1);
    const settled = events.find(event => event.type === 'settled');
    expect(settled).toMatchObject({
      priority: 'batch',
      deviceMs: expect.any(Number),
    });
  });

  it('begins no pass while a file runs or waits', async () => {
    const files = Promise.all([1, 2, 3].map(() => transcribe(pcmWav(audio(100), RATE))));
    await until(() => events.filter(({ type }) => type === 'accepted').length === 3);
    client.say(audio(400));
    for (const { status } of await files) expect(status).toBe(200);
    const order = events.filter(({ type }) => type === 'accepted' || type === 'settled');
    // Whatever began, began when all three were answered.
    expect(order.slice(0, 6).filter(isPass)).toEqual([]);
  });

  it('a file ends the pass that runs', async () => {
    client.say(audio(300));
    await until(() => passes() === 1);
    await transcribe(pcmWav(audio(100), RATE));
    expect(ended(isPass)).toEqual(['cancelled']);
    expect(ended(event => !isPass(event))).toEqual(['completed']);
  });
});

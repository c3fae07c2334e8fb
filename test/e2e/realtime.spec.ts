import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Product } from '../support/product.js';
import { fetchFirstModels, heard, SENTENCE } from '../support/real-models.js';
import { RealtimeClient, TRANSCRIPTION } from '../support/realtime-client.js';
import { describeWith } from '../support/requires.js';
import { pause } from '../support/waiting.js';

/** 100 ms of PCM at 24 kHz. */
const FRAME = 4800;

const first = await fetchFirstModels();

describeWith(first)(
  'live speech through the built product: made by Piper, heard by Moonshine',
  () => {
    let product: Product;
    let speech: Buffer;
    beforeAll(async () => {
      product = await Product.start(first.models);
      await product.allReady();
      const body = JSON.stringify({
        model: 'tts-1',
        voice: 'alloy',
        input: SENTENCE,
        response_format: 'pcm',
      });
      const headers = { 'content-type': 'application/json' };
      const answer = await fetch(`${product.url}/v1/audio/speech`, {
        method: 'POST',
        headers,
        body,
      });
      const silence = Buffer.alloc(48_000);
      speech = Buffer.concat([silence, Buffer.from(await answer.arrayBuffer()), silence, silence]);
    }, 90_000);
    afterAll(async () => product[Symbol.asyncDispose]());

    async function stream(client: RealtimeClient, audio: Buffer): Promise<void> {
      for (let at = 0; at < audio.length; at += FRAME) {
        client.say(audio.subarray(at, at + FRAME));
        await pause(100);
      }
    }

    it('is detected, told while it is spoken and completed by itself', async () => {
      const client = await RealtimeClient.open(product.url, { intent: 'transcription' });
      await stream(client, speech);
      const { transcript } = await client.next(`${TRANSCRIPTION}.completed`);
      expect(heard(String(transcript))).toBeGreaterThanOrEqual(4);
      const placeOf = (type: string): number => client.types().indexOf(type);
      const [started, stopped] = ['started', 'stopped'].map(end =>
        placeOf(`input_audio_buffer.speech_${end}`),
      );
      expect(started).toBeGreaterThan(0);
      // Which of the two comes first is up to the machine.
      for (const place of [placeOf(`${TRANSCRIPTION}.delta`), stopped!]) {
        expect(place).toBeGreaterThan(started!);
        expect(place).toBeLessThan(placeOf(`${TRANSCRIPTION}.completed`));
      }
      client.socket.close(1000);
    });

    it('interrupts what is being spoken to it', async () => {
      const client = await RealtimeClient.open(product.url, { intent: 'transcription' });
      // Four minutes of speech, more than fits between server and client: it is still being
      // sent when the user speaks.
      const text = Array.from({ length: 90 }, () => SENTENCE).join(' ');
      const input = [{ type: 'message', role: 'user', content: [{ type: 'input_text', text }] }];
      client.socket.pause();
      client.send({ type: 'response.create', response: { input } });
      const spoken = stream(client, speech);
      await pause(2500);
      client.socket.resume();
      const { response } = await client.next('response.done');
      expect(response).toMatchObject({
        status: 'cancelled',
        status_details: { reason: 'turn_detected' },
      });
      const { transcript } = await client.next(`${TRANSCRIPTION}.completed`);
      expect(heard(String(transcript))).toBeGreaterThanOrEqual(4);
      await spoken;
      client.socket.close(1000);
    });
  },
);

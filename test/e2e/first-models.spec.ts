import { afterAll, beforeAll, expect, it } from '@jest/globals';
import OpenAI, { toFile } from 'openai';
import { formOf } from '../support/form-of.js';
import { openaiAt } from '../support/openai-at.js';
import { pcmWav } from '../support/pcm-wav.js';
import { Product } from '../support/product.js';
import { fetchFirstModels, heard, SENTENCE } from '../support/real-models.js';
import { RealtimeClient, TRANSCRIPTION } from '../support/realtime-client.js';
import { describeWith } from '../support/requires.js';
import { pause } from '../support/waiting.js';

const RATE = 24_000;
/** 100 ms of PCM. */
const FRAME = 4800;

const first = await fetchFirstModels();
let product: Product;
/** The sentence as PCM. */
let speech: Buffer;

beforeAll(async () => {
  product = await Product.start(first.models);
  await product.allReady();
  speech = Buffer.from(await (await speak({ input: SENTENCE })).arrayBuffer());
});
afterAll(() => product?.[Symbol.asyncDispose]());

const speak = (fields: object): Promise<Response> =>
  fetch(`${product.url}/v1/audio/speech`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      ...{ model: 'tts-1', voice: 'alloy', response_format: 'pcm', stream_format: 'audio' },
      ...fields,
    }),
  });

const transcribe = async (fields: Readonly<Record<string, string>>, samples: Buffer) => {
  const form = formOf({ response_format: 'json', ...fields }, pcmWav(samples, RATE), 'audio.wav');
  const answer = await fetch(`${product.url}/v1/audio/transcriptions`, {
    method: 'POST',
    body: form,
  });
  return { status: answer.status, body: (await answer.json()) as { text: string } };
};

describeWith(first)('the first models, through an unchanged OpenAI client', () => {
  let openai: OpenAI;
  let mp3: Buffer;
  beforeAll(() => {
    openai = openaiAt(product.url, { timeout: 120_000 });
  });

  it('speaks: /v1/audio/speech answers MP3 by default', async () => {
    const speech = await openai.audio.speech.create({
      model: 'tts-1',
      voice: 'alloy',
      input: SENTENCE,
    });
    expect(speech.headers.get('content-type')).toBe('audio/mpeg');
    mp3 = Buffer.from(await speech.arrayBuffer());
    expect(mp3.length).toBeGreaterThan(5000);
  });

  it('hears what it spoke: at least five of the six words', async () => {
    const { text } = await openai.audio.transcriptions.create({
      file: await toFile(mp3, 'fox.mp3'),
      model: 'whisper-1',
    });
    expect(heard(text)).toBeGreaterThanOrEqual(5);
  });

  it.each(['opus', 'aac', 'flac', 'wav', 'pcm'] as const)(
    'speaks %s that it understands again',
    async format => {
      const speech = await openai.audio.speech.create({
        model: 'tts-1',
        voice: 'onyx',
        input: SENTENCE,
        response_format: format,
      });
      let audio = Buffer.from(await speech.arrayBuffer());
      // Raw PCM has no header to recognise it by; a WAV header makes it a file.
      if (format === 'pcm') audio = pcmWav(audio, 24_000);
      const file = await toFile(audio, `fox.${format === 'pcm' ? 'wav' : format}`);
      const { text } = await openai.audio.transcriptions.create({
        file,
        model: 'gpt-4o-transcribe',
      });
      expect(heard(text)).toBeGreaterThanOrEqual(5);
    },
  );
});

/** As its clients send them; run by hand unchanged, docs/guides/integrations.md. */
describeWith(first)("requests of Hugging Face's speech-to-speech 1.1.0", () => {
  it('hears nothing in the second of silence that it sends before its first session', async () => {
    const silence = Buffer.alloc(2 * RATE);
    expect(await transcribe({ model: 'whisper-1', language: 'en' }, silence)).toEqual({
      status: 200,
      body: expect.objectContaining({ text: '' }),
    });
  });

  it('speaks with the fields that it has for other servers: raw audio, `stream` or not', async () => {
    const others = { stream: true, language: 'English', task_type: 'CustomVoice' };
    for (const fields of [{ input: 'Warmup' }, { input: SENTENCE, ...others }]) {
      const answer = await speak(fields);
      expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'audio/pcm']);
      expect((await answer.arrayBuffer()).byteLength).toBeGreaterThan(RATE / 2);
    }
  });

  it('takes its one language as `languages[]`, which it sends to gpt-transcribe', async () => {
    const { status, body } = await transcribe(
      { model: 'gpt-transcribe', 'languages[]': 'en' },
      speech,
    );
    expect(status).toBe(200);
    expect(heard(body.text)).toBeGreaterThan(3);
  });

  it('hears it live: its model in the query, `languages` in the session, its own commits', async () => {
    const model = 'gpt-live-transcribe';
    const client = await RealtimeClient.open(product.url, { model });
    await client.next('session.created');
    client.update({
      format: { type: 'audio/pcm', rate: RATE },
      transcription: { model, languages: ['en'] },
      turn_detection: null,
    });
    await client.next('session.updated');
    // 32 ms each.
    for (let at = 0; at < speech.length; at += 1536) client.append(speech.subarray(at, at + 1536));
    client.commit();
    const { item_id } = await client.next('input_audio_buffer.committed');
    const completed = await client.next(`${TRANSCRIPTION}.completed`);
    expect(completed).toMatchObject({ item_id, content_index: 0 });
    expect(heard(String(completed.transcript))).toBeGreaterThan(3);
    client.socket.close();
  });
});

describeWith(first)(
  'live speech through the built product: made by Piper, heard by Moonshine',
  () => {
    let utterance: Buffer;
    beforeAll(() => {
      const silence = Buffer.alloc(48_000);
      utterance = Buffer.concat([silence, speech, silence, silence]);
    });

    async function stream(client: RealtimeClient, audio: Buffer): Promise<void> {
      for (let at = 0; at < audio.length; at += FRAME) {
        client.say(audio.subarray(at, at + FRAME));
        await pause(100);
      }
    }

    it('is detected, told while it is spoken and completed by itself', async () => {
      const client = await RealtimeClient.open(product.url, { intent: 'transcription' });
      await stream(client, utterance);
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
      const spoken = stream(client, utterance);
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

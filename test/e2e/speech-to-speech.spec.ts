import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { pcmWav } from '../support/pcm-wav.js';
import { Product } from '../support/product.js';
import { fetchFirstModels, heard, SENTENCE } from '../support/real-models.js';
import { RealtimeClient, TRANSCRIPTION } from '../support/realtime-client.js';
import { describeWith } from '../support/requires.js';

const RATE = 24_000;
const first = await fetchFirstModels();
let product: Product;
let speech: Buffer;
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
  const form = new FormData();
  form.append('file', new Blob([pcmWav(samples, RATE)]), 'audio.wav');
  for (const [name, value] of Object.entries({ response_format: 'json', ...fields }))
    form.append(name, value);
  const answer = await fetch(`${product.url}/v1/audio/transcriptions`, {
    method: 'POST',
    body: form,
  });
  return { status: answer.status, body: (await answer.json()) as { text: string } };
};

/** As its clients send them; run by hand unchanged, docs/guides/integrations.md. */
describeWith(first)("requests of Hugging Face's speech-to-speech 1.1.0", () => {
  beforeAll(async () => {
    product = await Product.start(first.models);
    await product.allReady();
    const spoken = await speak({ input: SENTENCE });
    speech = Buffer.from(await spoken.arrayBuffer());
  }, 90_000);
  afterAll(async () => product[Symbol.asyncDispose]());

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

import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { FixtureWorker } from '../../support/fixture-worker.js';
import { formOf } from '../../support/form-of.js';
import { audioForm, wav } from './audio-forms.js';
import { GatewayRig } from './gateway-rig.js';
import { sttModel } from './models.js';

const PATH = '/v1/audio/transcriptions';

let worker: FixtureWorker;
let rig: GatewayRig;
beforeAll(async () => {
  worker = new FixtureWorker({ model: 'stt' });
  const addresses = [`127.0.0.1:${await worker.start()}`];
  rig = await GatewayRig.start({
    models: [sttModel({ addresses })],
    settings: { 'spool.memory_bytes': 100_000 },
  });
  await rig.ready('stt');
});
afterAll(async () => {
  await rig.close();
  worker.stop();
});
afterEach(async () => {
  expect(await rig.spooled()).toEqual([]);
});

describe('a transcription', () => {
  it('is answered as json with text and usage', async () => {
    const response = await rig.post(PATH, audioForm());
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(await response.json()).toEqual({
      text: '32044 bytes of speech.wav',
      usage: { type: 'duration', seconds: 1 },
    });
  });

  it.each([
    ['text', '32044 bytes of speech.wav\n'],
    ['srt', ''],
    ['vtt', 'WEBVTT\n\n'],
  ])('is answered as plain %s', async (response_format, body) => {
    const response = await rig.post(PATH, audioForm({ fields: { response_format } }));
    expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    expect(await response.text()).toBe(body);
  });

  it('is answered as verbose_json with the granularities asked for', async () => {
    const fields = {
      response_format: 'verbose_json',
      language: 'en',
      'timestamp_granularities[]': ['word', 'segment'],
    };
    expect(await (await rig.post(PATH, audioForm({ fields }))).json()).toEqual({
      task: 'transcribe',
      language: 'english',
      duration: 1,
      text: '32044 bytes of speech.wav',
      segments: [],
      words: [],
      usage: { type: 'duration', seconds: 1 },
    });
  });

  it('is streamed as events that end in [DONE]', async () => {
    const response = await rig.post(PATH, audioForm({ fields: { stream: 'true' } }));
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    expect((await response.text()).split('\n\n')).toEqual([
      'data: {"type":"transcript.text.delta","delta":"32044 bytes of speech.wav"}',
      'data: {"type":"transcript.text.done","text":"32044 bytes of speech.wav",' +
        '"usage":{"type":"tokens","input_tokens":10,"output_tokens":7,"total_tokens":17,' +
        '"input_token_details":{"audio_tokens":10,"text_tokens":0},"device_ms":3}}',
      'data: [DONE]',
      '',
    ]);
  });

  it('reaches the worker whole, from memory and from disk', async () => {
    for (const seconds of [1, 30]) {
      const { text } = (await (await rig.post(PATH, audioForm({ file: wav(seconds) }))).json()) as {
        text: string;
      };
      expect(text).toBe(`${44 + seconds * 32_000} bytes of speech.wav`);
    }
  });

  it('may come with fields before or after the file, unknown ones, and defaults spelt out', async () => {
    const fields = {
      temperature: '0',
      prompt: '',
      new_field: 'x',
      chunking_strategy: 'auto',
      language: '',
    };
    expect((await rig.post(PATH, audioForm({ fields }))).status).toBe(200);
    const form = formOf({ model: 'whisper-1' }, wav(1), 'speech.wav');
    expect((await rig.post(PATH, form)).status).toBe(200);
  });

  it('by an alias runs under the canonical id', async () => {
    const response = await rig.post(PATH, audioForm({ fields: { model: 'whisper-1' } }));
    expect(response.headers.get('x-switchyard-model')).toBe('stt');
  });

  it('tells where its time went', async () => {
    const { headers } = await rig.post(PATH, audioForm(), {
      headers: { 'x-request-id': 'timed' },
    });
    expect(headers.get('server-timing')).toMatch(
      /^queue;dur=.*, grpc;dur=.*, prep;dur=1\.00, ready;dur=2\.00, device;dur=3\.00, total;dur=/,
    );
    expect(headers.get('x-switchyard-queue-ms')).toMatch(/^\d+\.\d\d$/);
    expect(headers.get('x-switchyard-batch-size')).toBe('1');
    expect(headers.get('x-switchyard-device-share-ms')).toBe('3.00');
    expect(headers.get('x-request-id')).toBe('timed');
    expect(headers.get('openai-processing-ms')).toMatch(/^\d+$/);
    expect(headers.get('access-control-expose-headers')).toContain('x-switchyard-queue-ms');
  });

  it.each([
    ['', '', 'batch'],
    ['realtime', '', 'realtime'],
    ['', 'priority', 'realtime'],
    ['', 'flex', 'batch'],
    ['batch', 'priority', 'batch'],
  ])('with X-Priority %j and service_tier %j is %s', async (header, tier, priority) => {
    const id = `priority-${header}-${tier}`;
    const headers = { 'x-request-id': id, ...(header && { 'x-priority': header }) };
    await rig.post(PATH, audioForm({ fields: tier ? { service_tier: tier } : {} }), {
      headers,
    });
    expect(await rig.json(`/v1/requests/${id}`)).toMatchObject({
      request_id: id,
      state: 'completed',
      priority,
    });
  });
});

describe('a translation by a model that knows English only', () => {
  it('is the transcript', async () => {
    const form = audioForm({ fields: { response_format: 'verbose_json' } });
    const answer = await (await rig.post('/v1/audio/translations', form)).json();
    expect(answer).toMatchObject({
      task: 'translate',
      text: '32044 bytes of speech.wav',
      segments: [],
    });
  });
});

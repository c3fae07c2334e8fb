import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { FixtureWorker, script } from '../../support/fixture-worker.js';
import { GatewayRig, until } from './gateway-rig.js';
import { ttsModel } from './models.js';

const CHUNK_BYTES = 65_536;

let worker: FixtureWorker;
let rig: GatewayRig;
beforeAll(async () => {
  worker = new FixtureWorker({ model: 'tts', kind: 'tts' });
  const addresses = [`127.0.0.1:${await worker.start()}`];
  rig = await GatewayRig.start({ models: [ttsModel({ addresses })] });
  await rig.ready('tts');
});
afterAll(async () => {
  worker.releaseAll();
  await rig.close();
  worker.stop();
});

const speak = (fields: Record<string, unknown>, init?: RequestInit): Promise<Response> =>
  rig.post(
    '/v1/audio/speech',
    { model: 'tts-1', voice: 'alloy', input: 'Hello.', ...fields },
    init,
  );

describe('speech', () => {
  it.each([
    ['mp3', 'audio/mpeg'],
    ['opus', 'audio/ogg'],
    ['aac', 'audio/aac'],
    ['flac', 'audio/flac'],
    ['wav', 'audio/wav'],
    ['pcm', 'audio/pcm'],
  ])('as %s is %s, chunked', async (response_format, type) => {
    const response = await speak({ response_format });
    expect([response.status, response.headers.get('content-type')]).toEqual([200, type]);
    expect(response.headers.get('transfer-encoding')).toBe('chunked');
    expect((await response.arrayBuffer()).byteLength).toBe(CHUNK_BYTES);
  });

  it('by voice object, engine voice, and at both ends of speed and length', async () => {
    for (const fields of [
      { voice: { id: 'nova' } },
      { voice: 'slt' },
      { speed: 0.25 },
      { speed: 4 },
      { input: 'a'.repeat(4096) },
      { instructions: '' },
      { something_newer: true },
    ]) {
      const response = await speak(fields);
      await response.arrayBuffer();
      expect(response.status).toBe(200);
    }
  });

  it('leaves before the synthesis is done: the first bytes come while the worker still holds it', async () => {
    const response = await speak({ input: script.hold }, { headers: { 'x-request-id': 'early' } });
    expect(response.headers.get('x-switchyard-queue-ms')).toMatch(/^\d+\.\d\d$/);
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    expect((await reader.read()).value?.length).toBeGreaterThan(0);
    await until(() => worker.holding.includes('early'));
    worker.release('early');
    while (!(await reader.read()).done);
  });

  it('as events is deltas in base64 and one done', async () => {
    const response = await speak({ stream_format: 'sse' });
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    const events = eventsOf(await response.text());
    const done = events.pop();
    expect(done).toEqual({
      type: 'speech.audio.done',
      usage: { input_tokens: 0, output_tokens: 0, total_tokens: 0, seconds: 1.5 },
    });
    expect(new Set(events.map(({ type }) => type))).toEqual(new Set(['speech.audio.delta']));
    const audio = Buffer.concat(events.map(event => Buffer.from(event.audio as string, 'base64')));
    expect(audio.equals(Buffer.alloc(CHUNK_BYTES, 1))).toBe(true);
  });

  it('is held back by a caller that does not read, instead of being gathered in memory', async () => {
    const leaving = new AbortController();
    const id = 'slow-reader';
    const response = await speak(
      { input: script.chunks(2000) },
      { signal: leaving.signal, headers: { 'x-request-id': id } },
    );
    expect(response.status).toBe(200);
    let seen = -1;
    await until(async () => {
      const before = seen;
      seen = worker.chunksWritten;
      await new Promise(resolve => setTimeout(resolve, 200));
      return before === worker.chunksWritten;
    });
    expect(worker.chunksWritten).toBeLessThan(2000);
    leaving.abort();
    await until(() => worker.cancelled.includes(id));
  });
});

describe('speech that fails', () => {
  it('in the middle of the audio ends the connection, not the body', async () => {
    const response = await speak({ input: script.fail('engine_failed') });
    expect(response.status).toBe(200);
    await expect(response.arrayBuffer()).rejects.toThrow();
  });

  it('in the middle of events ends them with the error', async () => {
    const response = await speak({
      input: script.fail('engine_failed'),
      stream_format: 'sse',
    });
    const events = eventsOf(await response.text());
    expect(events.at(-1)).toMatchObject({
      error: { code: 'engine_failed', type: 'server_error' },
    });
    expect(events.some(({ type }) => type === 'speech.audio.done')).toBe(false);
  });

  it('because its caller left in the middle is cancelled at the worker', async () => {
    const leaving = new AbortController();
    const headers = { 'x-request-id': 'left-speaking' };
    await speak({ input: script.hold }, { signal: leaving.signal, headers });
    leaving.abort();
    await until(() => worker.cancelled.includes('left-speaking'));
  });

  it('because it was cancelled in the middle ends the connection', async () => {
    const response = await speak(
      { input: script.hold },
      { headers: { 'x-request-id': 'cancelled-speech' } },
    );
    expect(
      await (await rig.post('/v1/audio/speech/cancelled-speech/cancel', {})).json(),
    ).toMatchObject({
      cancelled: true,
    });
    await expect(response.arrayBuffer()).rejects.toThrow();
  });
});

describe('the four TTS metrics', () => {
  it('count what was spoken', async () => {
    const completed = () => rig.metric('tts_requests_total{status="completed",model="tts"}');
    await until(async () => (await rig.metric('tts_active_sessions{model="tts"}')) === 0);
    const before = (await completed()) || 0;
    await (await speak({})).arrayBuffer();
    await until(async () => (await completed()) === before + 1);
    expect(await rig.metric('tts_ttfb_seconds_count{model="tts"}')).toBeGreaterThan(before);
    expect(await rig.metric('tts_synthesis_duration_seconds_count{model="tts"}')).toBe(before + 1);
    expect(await rig.metric('tts_requests_total{status="failed",model="tts"}')).toBeGreaterThan(0);
    expect(await rig.metric('tts_requests_total{status="cancelled",model="tts"}')).toBeGreaterThan(
      0,
    );
  });
});

function eventsOf(body: string): Record<string, unknown>[] {
  const frames = body.split('\n\n');
  expect(frames.pop()).toBe('');
  return frames.map(frame => JSON.parse(frame.replace(/^data: /, '')) as Record<string, unknown>);
}

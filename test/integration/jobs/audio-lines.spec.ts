import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type OpenAI, toFile } from 'openai';
import { Product } from '../../support/product.js';
import { syntheticModel } from '../../support/synthetic-model.js';
import { type TargetCall, TargetServer } from '../../support/target-server.js';
import { SdkRoundTrip } from './sdk-round-trip.js';

const STT = syntheticModel({}, { capabilities: ['transcribe', 'translate'] });
const TTS = syntheticModel(
  {},
  { id: 'voice', kind: 'tts', capabilities: ['speech'], voices: { alloy: 'synthetic' } },
);
const SOUND = 'recording of the night';
const BASE64 = Buffer.from(SOUND).toString('base64');

interface ResultLine {
  readonly custom_id: string;
  readonly response: {
    readonly status_code: number;
    readonly body: Readonly<Record<string, unknown>>;
  } | null;
  readonly error: { readonly code: string; readonly param?: string } | null;
}

let shop: TargetServer;
let product: Product;
let trip: SdkRoundTrip;
let client: OpenAI;

beforeAll(async () => {
  shop = await TargetServer.start(({ path }: TargetCall) =>
    path === '/gone.wav'
      ? { status: 404 }
      : { body: SOUND, headers: { 'content-type': 'audio/wav' } },
  );
  product = await Product.hosted([STT, TTS], {
    'batch.embedded': 'true',
    'batch.poll_ms': 100,
    'fetch.allow_hosts': new URL(shop.url).host,
  });
  trip = new SdkRoundTrip(product.url);
  client = trip.client;
}, 120_000);

afterAll(async () => {
  await product[Symbol.asyncDispose]();
  await shop[Symbol.asyncDispose]();
});

/**
 * Runs the bodies as a batch of the built product. @returns its result lines by
 * `custom_id`, which is the key
 */
async function run(
  endpoint: string,
  bodies: Readonly<Record<string, object>>,
): Promise<Map<string, ResultLine>> {
  const lines = Object.entries(bodies).map(([custom_id, body]) =>
    JSON.stringify({ custom_id, method: 'POST', url: endpoint, body }),
  );
  const file = await toFile(Buffer.from(lines.join('\n')), 'in.jsonl');
  const { id: input } = await client.files.create({ file, purpose: 'batch' });
  const order = {
    input_file_id: input,
    endpoint: endpoint as '/v1/embeddings',
    completion_window: '24h' as const,
  };
  const ended = await trip.untilEnd((await client.batches.create(order)).id);
  expect(ended).toMatchObject({
    status: 'completed',
    request_counts: { total: lines.length },
  });
  const texts = await Promise.all([ended.output_file_id, ended.error_file_id].map(textOf));
  const results = texts
    .flatMap(text => text.split('\n').filter(Boolean))
    .map(line => JSON.parse(line) as ResultLine);
  return new Map(results.map(line => [line.custom_id, line]));
}

const textOf = async (id: string | null | undefined): Promise<string> =>
  id ? (await client.files.content(id)).text() : '';

const bytesOf = async (answer: Promise<Response>): Promise<Buffer> =>
  Buffer.from(await (await answer).arrayBuffer());

describe.each(['transcriptions', 'translations'] as const)('lines of /v1/audio/%s', endpoint => {
  it('accept a file id, a URL, base64 and a data URL; audio that cannot be read is an error of its line', async () => {
    const file = await toFile(Buffer.from(SOUND), 'night.wav');
    const stored = await client.files.create({ file, purpose: 'user_data' });
    const results = await run(`/v1/audio/${endpoint}`, {
      stored: { model: 'synthetic', file_id: stored.id },
      url: { model: 'synthetic', file_url: `${shop.url}/night.wav` },
      base64: { model: 'synthetic', audio: BASE64, filename: 'night.wav' },
      data: { model: 'synthetic', audio: `data:audio/wav;base64,${BASE64}` },
      subtitles: { model: 'synthetic', audio: BASE64, response_format: 'srt' },
      gone: { model: 'synthetic', file_url: `${shop.url}/gone.wav` },
      inner: { model: 'synthetic', file_url: 'http://127.0.0.1:1/a.wav' },
      nobody: { model: 'synthetic', file_id: 'file-nobody' },
      both: { model: 'synthetic', file_id: stored.id, audio: BASE64 },
      none: { model: 'synthetic' },
      empty: { model: 'synthetic', audio: '!' },
      stranger: { model: 'nobody', audio: BASE64 },
    });
    const alone = await client.audio[endpoint].create({ model: 'synthetic', file });
    for (const name of ['stored', 'url', 'base64', 'data'])
      expect(results.get(name)).toMatchObject({
        response: { status_code: 200, body: { text: alone.text } },
      });
    expect(results.get('subtitles')?.response?.body).toMatch(/^1\n00:00:00,000 --> /);
    expect(results.get('gone')).toMatchObject({
      response: { status_code: 400 },
      error: null,
    });
    expect(results.get('inner')).toMatchObject({
      response: { status_code: 400 },
      error: null,
    });
    expect(results.get('stranger')).toMatchObject({
      response: { status_code: 404 },
      error: null,
    });
    const codes = ['nobody', 'both', 'none', 'empty'].map(name => results.get(name)?.error?.code);
    expect(codes).toEqual([
      'file_not_found',
      'missing_required_parameter',
      'missing_required_parameter',
      'invalid_value',
    ]);
  }, 120_000);
});

describe('lines of /v1/audio/speech', () => {
  it('give a file with the very bytes that the endpoint gives, or these as base64', async () => {
    const body = {
      model: 'voice',
      voice: 'alloy',
      input: 'good night',
      response_format: 'wav',
    } as const;
    const results = await run('/v1/audio/speech', {
      file: body,
      base64: { ...body, response_encoding: 'base64' },
      mute: { ...body, voice: 'nobody' },
    });
    const alone = await bytesOf(client.audio.speech.create(body));
    const { file_id: id, bytes, content_type: type } = results.get('file')!.response!.body;
    expect([bytes, type]).toEqual([alone.length, 'audio/wav']);
    expect((await bytesOf(client.files.content(id as string))).equals(alone)).toBe(true);
    expect(await client.files.retrieve(id as string)).toMatchObject({
      purpose: 'batch_output',
      filename: 'file.wav',
    });
    const inLine = results.get('base64')!.response!.body;
    expect(Buffer.from(inLine.audio as string, 'base64').equals(alone)).toBe(true);
    expect(inLine.content_type).toBe('audio/wav');
    expect(results.get('mute')).toMatchObject({ response: { status_code: 400 } });
  }, 120_000);
});

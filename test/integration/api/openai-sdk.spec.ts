import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import OpenAI, { toFile } from 'openai';
import { FixtureWorker } from '../../support/fixture-worker.js';
import { wav } from './audio-forms.js';
import { GatewayRig } from './gateway-rig.js';
import { sttModel, ttsModel } from './models.js';

let workers: FixtureWorker[];
let rig: GatewayRig;
let client: OpenAI;
beforeAll(async () => {
  workers = [new FixtureWorker({ model: 'stt' }), new FixtureWorker({ model: 'tts', kind: 'tts' })];
  const [stt, tts] = await Promise.all(
    workers.map(async worker => [`127.0.0.1:${await worker.start()}`]),
  );
  rig = await GatewayRig.start({
    models: [sttModel({ addresses: stt ?? [] }), ttsModel({ addresses: tts ?? [] })],
  });
  await Promise.all([rig.ready('stt'), rig.ready('tts')]);
  client = new OpenAI({ baseURL: `${rig.url}/v1`, apiKey: 'unused', maxRetries: 0 });
});
afterAll(async () => {
  await rig.close();
  for (const worker of workers) worker.stop();
});

const speech = () => toFile(wav(1), 'speech.wav');
const HEARD = '32044 bytes of speech.wav';

describe('the openai SDK, unchanged', () => {
  it('transcribes', async () => {
    const { text } = await client.audio.transcriptions.create({
      file: await speech(),
      model: 'whisper-1',
      temperature: 0,
    });
    expect(text).toBe(HEARD);
  });

  it('transcribes as text and verbose_json with granularities', async () => {
    const file = await speech();
    const text = await client.audio.transcriptions.create({
      file,
      model: 'whisper-1',
      response_format: 'text',
    });
    expect(text).toBe(`${HEARD}\n`);
    const verbose = await client.audio.transcriptions.create({
      file: await speech(),
      model: 'whisper-1',
      response_format: 'verbose_json',
      timestamp_granularities: ['word'],
    });
    expect(verbose).toMatchObject({ text: HEARD, duration: 1, words: [] });
    expect(verbose).not.toHaveProperty('segments');
  });

  it('transcribes as a stream', async () => {
    const stream = await client.audio.transcriptions.create({
      file: await speech(),
      model: 'whisper-1',
      stream: true,
    });
    const types: string[] = [];
    for await (const event of stream) types.push(event.type);
    expect(types).toEqual(['transcript.text.delta', 'transcript.text.done']);
  });

  it('translates', async () => {
    const { text } = await client.audio.translations.create({
      file: await speech(),
      model: 'whisper-1',
    });
    expect(text).toBe(HEARD);
  });

  it('speaks', async () => {
    const response = await client.audio.speech.create({
      model: 'tts-1',
      voice: 'alloy',
      input: 'Hello.',
    });
    expect(response.headers.get('content-type')).toBe('audio/mpeg');
    expect((await response.arrayBuffer()).byteLength).toBe(65_536);
  });

  it('lists models and retrieves one by its alias', async () => {
    const ids: string[] = [];
    for await (const { id } of client.models.list()) ids.push(id);
    expect(ids).toEqual(['stt', 'tts', 'whisper-1', 'tts-1']);
    expect(await client.models.retrieve('whisper-1')).toMatchObject({
      id: 'whisper-1',
      object: 'model',
      root: 'stt',
    });
  });

  it('gets its typed errors, and does not retry what cannot help', async () => {
    const eager = new OpenAI({
      baseURL: `${rig.url}/v1`,
      apiKey: 'unused',
      maxRetries: 5,
    });
    const file = await speech();
    const unknown = eager.audio.transcriptions.create({ file, model: 'whisper-9' });
    await expect(unknown).rejects.toMatchObject({
      status: 404,
      code: 'model_not_found',
      param: 'model',
    });
    await expect(unknown).rejects.toBeInstanceOf(OpenAI.NotFoundError);
    await expect(eager.models.retrieve('nothing')).rejects.toMatchObject({
      status: 404,
      requestID: expect.stringMatching(/^req_/),
    });
  });
});

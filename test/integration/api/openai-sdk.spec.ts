import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import OpenAI, { toFile } from 'openai';
import { FixtureWorker } from '../../support/fixture-worker.js';
import { openaiAt } from '../../support/openai-at.js';
import { wav } from './audio-forms.js';
import { GatewayRig } from './gateway-rig.js';
import { sttModel } from './models.js';

let worker: FixtureWorker;
let rig: GatewayRig;
let client: OpenAI;
beforeAll(async () => {
  worker = new FixtureWorker({ model: 'stt' });
  const addresses = [`127.0.0.1:${await worker.start()}`];
  rig = await GatewayRig.start({ models: [sttModel({ addresses })] });
  await rig.ready('stt');
  client = openaiAt(rig.url);
});
afterAll(async () => {
  await rig.close();
  worker.stop();
});

const speech = () => toFile(wav(1), 'speech.wav');
const HEARD = '32044 bytes of speech.wav';

describe('the openai SDK, unchanged', () => {
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

  it('lists models and retrieves one by its alias', async () => {
    const ids: string[] = [];
    for await (const { id } of client.models.list()) ids.push(id);
    expect(ids).toEqual(['stt', 'whisper-1']);
    expect(await client.models.retrieve('whisper-1')).toMatchObject({
      id: 'whisper-1',
      object: 'model',
      root: 'stt',
    });
  });

  it('gets its typed errors, and does not retry what cannot help', async () => {
    const eager = openaiAt(rig.url, { maxRetries: 5 });
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

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { errorOf, expectError, GatewayRig } from './gateway-rig.js';
import { sttModel, ttsModel } from './models.js';

const MIB = 1_048_576;

let rig: GatewayRig;
beforeAll(async () => {
  const text = { engine: 'synthetic', languages: [], voices: {} } as const;
  const llm = sttModel({
    ...text,
    id: 'llm',
    kind: 'llm',
    aliases: [],
    capabilities: ['chat', 'completions', 'tools'],
  });
  const vectors = sttModel({
    ...text,
    id: 'vectors',
    kind: 'embedding',
    aliases: [],
    capabilities: ['embeddings'],
  });
  rig = await GatewayRig.start({ models: [sttModel(), ttsModel(), llm, vectors] });
});
afterAll(() => rig.close());

const post = (path: string, body: string): Promise<Response> =>
  fetch(rig.url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  });

const keys = (count: number): string =>
  `{${Array.from({ length: count }, (_, index) => `"k${index}":1`).join()}}`;

describe('JSON in Latin-1', () => {
  const ask = (path: string, fields: string): Promise<Response> =>
    fetch(rig.url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: Buffer.from(`{"model":"nobody",${fields}}`, 'latin1'),
    });

  it('is refused, since its letters would be read as others', async () => {
    const error = await errorOf(ask('/v1/audio/speech', '"voice":"x","input":"Größe"'));
    expect(error).toMatchObject({ status: 400, code: 'invalid_json' });
    expect(error.message).toContain('not UTF-8');
  });

  it('is read by the routes of Ollama, as there', async () => {
    const answer = await ask('/api/generate', '"prompt":"Größe"');
    expect([answer.status, await answer.text()]).toEqual([404, expect.stringContaining('nobody')]);
  });
});

describe.each([
  '/v1/chat/completions',
  '/v1/completions',
  '/v1/embeddings',
  '/v1/audio/speech',
  '/v1/batches',
  '/v1/uploads',
  '/v1/realtime/client_secrets',
  '/admin/v1/requests/cancel',
])('JSON for %s', path => {
  it('of 400,000 keys is invalid_json, and is never parsed', async () => {
    const error = await errorOf(await post(path, keys(400_000)));
    expect(error).toMatchObject({
      status: 400,
      code: 'invalid_json',
      message: expect.stringContaining('100000'),
    });
  });

  it('of 1,900,000 brackets is invalid_json', async () => {
    const error = await errorOf(await post(path, `{"session":${'['.repeat(1_900_000)}`));
    expect(error).toMatchObject({
      status: 400,
      code: 'invalid_json',
      message: expect.stringContaining('256 levels'),
    });
  });

  it('of 9 MiB is file_too_large and names the setting', async () => {
    const error = await errorOf(await post(path, `{"input":"${'x'.repeat(9 * MIB)}"}`));
    expect(error).toMatchObject({ status: 413, code: 'file_too_large' });
    expect(error.message).toContain('server.json_limit_bytes');
  });
});

it('messages of 300,000 empty objects are invalid_json', async () => {
  const body = `{"model":"llm","messages":[${'{},'.repeat(299_999)}{}]}`;
  await expectError(await post('/v1/chat/completions', body), {
    status: 400,
    code: 'invalid_json',
  });
});

it('a list of 2,048 inputs of 300,000 tokens in all is read', async () => {
  const tokens = `[${Array.from({ length: 146 }, () => '50000').join()}]`;
  const body = `{"model":"nobody","input":[${Array.from({ length: 2048 }, () => tokens).join()}]}`;
  // Known as what it is by a model that does not exist: the body was parsed
  // and found good.
  await expectError(await post('/v1/embeddings', body), {
    status: 404,
    code: 'model_not_found',
  });
});

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { formOf } from '../../support/form-of.js';
import { GatewayRig } from '../api/gateway-rig.js';
import { sttModel, ttsModel } from '../api/models.js';
import { bearer, KeysFolder } from './keys-folder.js';

const own = [
  sttModel({ id: 'ears', aliases: ['own-ears'] }),
  ttsModel({ id: 'mouth', aliases: [] }),
  sttModel({ id: 'brain', kind: 'llm', aliases: [], capabilities: ['chat', 'completions'] }),
];
const foreign = [
  sttModel({ id: 'secret-ears', aliases: ['secret-alias'] }),
  ttsModel({ id: 'secret-mouth', aliases: ['secret-voice'], voices: { secret: 'rms' } }),
  sttModel({ id: 'secret-brain', kind: 'llm', aliases: ['secret-*'], capabilities: ['chat'] }),
  sttModel({ id: 'secret-vectors', kind: 'embedding', aliases: [], capabilities: ['embeddings'] }),
];

let rig: GatewayRig;
let key: string;

beforeAll(async () => {
  const folder = new KeysFolder();
  const admin = folder.add('ops', 'admin');
  rig = await GatewayRig.start({
    models: [...own, ...foreign],
    settings: { 'auth.keys_file': folder.file },
  });
  const wanted = { name: 'n', tenant: 'acme', models: own.map(({ id }) => id) };
  const issued = await rig.post('/admin/v1/keys', wanted, { headers: bearer(admin) });
  ({ secret: key } = (await issued.json()) as { secret: string });
});
afterAll(() => rig.close());

const headers = () => bearer(key);
const messages = [{ role: 'user', content: 'x' }];

/** What the body of each route that takes a model says besides it. */
const BODIES: Readonly<Record<string, object>> = {
  '/v1/chat/completions': { messages },
  '/v1/completions': { prompt: 'x' },
  '/v1/embeddings': { input: 'x' },
  '/v1/rerank': { query: 'x', documents: ['y'] },
  '/v1/responses': { input: 'x' },
  '/v1/responses/input_tokens': { input: 'x' },
  '/v1/messages': { messages, max_tokens: 1 },
  '/v1/messages/count_tokens': { messages },
  '/v1/audio/speech': { input: 'x', voice: 'alloy' },
  '/tokenize': { prompt: 'x' },
  '/api/chat': { messages },
  '/api/generate': { prompt: 'x' },
  '/api/embed': { input: 'x' },
  '/api/show': {},
  '/v1/realtime/client_secrets': {},
};

const post = async (path: string, model: string) => {
  const session = { type: 'transcription', audio: { input: { transcription: { model } } } };
  const fields = path.startsWith('/v1/realtime') ? { session } : { model, ...BODIES[path] };
  const answer = await rig.post(path, fields, { headers: headers() });
  return { status: answer.status, text: await answer.text() };
};
const upload = async (path: string, model: string) => {
  const answer = await rig.post(path, formOf({ model }), { headers: headers() });
  return { status: answer.status, text: await answer.text() };
};
const get = async (path: string) => {
  const answer = await fetch(rig.url + path, { headers: headers() });
  return { status: answer.status, text: await answer.text() };
};

const NAMES = [...foreign.map(({ id }) => id), 'secret-alias', 'secret-voice', 'secret-anything'];

/** An answer without the name that was asked for, and without the id of the request. */
const without = ({ status, text }: { status: number; text: string }, name: string) => ({
  status,
  text: text.replaceAll(name, 'NAME').replace(/"request_id":"[^"]*"/, ''),
});

describe('for a key of some models, the others', () => {
  it.each(Object.keys(BODIES))('do not exist for POST %s', async path => {
    const absent = without(await post(path, 'absent'), 'absent');
    expect(absent.status).toBe(404);
    for (const name of NAMES) {
      const answer = without(await post(path, name), name);
      expect(answer).toEqual(absent);
      expect(answer.text).not.toContain('secret');
    }
  });

  it.each(['/v1/audio/transcriptions', '/v1/audio/translations'])(
    'do not exist for the form of %s',
    async path => {
      const absent = without(await upload(path, 'absent'), 'absent');
      expect(absent.status).toBe(404);
      for (const name of NAMES) expect(without(await upload(path, name), name)).toEqual(absent);
    },
  );

  it.each(['/v1/models/', '/v1/audio/voices?model='])('do not exist for GET %s', async path => {
    const absent = without(await get(`${path}absent`), 'absent');
    expect(absent.status).toBe(404);
    for (const name of NAMES) expect(without(await get(path + name), name)).toEqual(absent);
  });

  it.each(['/v1/models', '/api/tags', '/api/ps', '/v1/audio/voices'])(
    'are not in the list of %s',
    async path => expect((await get(path)).text).not.toContain('secret'),
  );

  it('are not among the models that an error says are able', async () => {
    for (const [path, model] of [
      ['/v1/chat/completions', 'ears'],
      ['/v1/audio/speech', 'ears'],
      ['/v1/embeddings', 'brain'],
    ] as const) {
      const { status, text } = await post(path, model);
      expect(status).toBe(400);
      expect(text).toContain('models that do');
      expect(text).not.toContain('secret');
    }
  });
});

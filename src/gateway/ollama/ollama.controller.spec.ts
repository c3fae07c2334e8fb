import { describe, expect, it } from '@jest/globals';
import { ownerOf } from '../../../test/support/live-session.js';
import { jsonOf, scriptedInference, served } from '../../../test/support/scripted-inference.js';
import { syntheticModel } from '../../../test/support/synthetic-model.js';
import { ModelList } from '../../platform/config/config.module.js';
import { settingsFrom } from '../../platform/config/settings.js';
import { ModelCatalog } from '../models/model-catalog.js';
import { TextGenerationService } from '../text/text-generation.service.js';
import { type WorkerPoolService } from '../worker-pool/worker-pool.service.js';
import { OllamaController } from './ollama.controller.js';

const catalog = new ModelCatalog(
  new ModelList([
    syntheticModel({}, { id: 'm', kind: 'llm', capabilities: ['chat', 'completions'] }),
    syntheticModel({}, { id: 'e', kind: 'embedding', capabilities: ['embeddings'] }),
  ]),
);
const PIECE = Buffer.from(
  JSON.stringify({
    choices: [{ message: { content: 'hi', reasoning: 'hm' }, finish_reason: 'stop' }],
  }),
);

async function rig(
  route: 'chat' | 'generate' | 'embed' | 'pull' | 'push',
  principal = ownerOf('t'),
) {
  const { inference, next } = scriptedInference();
  const settings = settingsFrom({});
  const loads: string[] = [];
  const controller = new OllamaController(
    new TextGenerationService(inference, settings),
    catalog,
    { of: (id: string) => ({ requestLoad: () => loads.push(id) }) } as unknown as WorkerPoolService,
    settings,
  );
  const { post } = await served(
    (request, reply) => controller[route](jsonOf(request), reply),
    principal,
  );
  return { post: (body: object) => post({ model: 'm:latest', ...body }), next, loads };
}

describe('the API of Ollama', () => {
  it.each([
    [undefined, 'hm'],
    [true, 'hm'],
    [false, undefined],
  ])(
    'answers a chat whole, with its thoughts unless they are not wanted: %s',
    async (think, thinking) => {
      const { post, next } = await rig('chat');
      const answer = post({ messages: [{ role: 'user', content: 'hi' }], stream: false, think });
      const started = await next();
      expect(started.work).toMatchObject({ model: 'm', payload: { form: 'chat' } });
      started.answer({ kind: 'generation', answer: PIECE });
      const { message, ...rest } = (await answer).json<{ message: object; model: string }>();
      expect(message).toEqual({ role: 'assistant', content: 'hi', ...(thinking && { thinking }) });
      expect(rest).toMatchObject({ model: 'm:latest', done: true, done_reason: 'stop' });
    },
  );

  it('answers a prompt line by line', async () => {
    const { post, next } = await rig('generate');
    const answer = post({ prompt: 'hi' });
    const started = await next();
    started.output!.end(PIECE);
    started.answer({ kind: 'generation', answer: Buffer.alloc(0) });
    const { payload, headers } = await answer;
    const lines = payload
      .trim()
      .split('\n')
      .map(line => JSON.parse(line) as object);
    expect(lines).toMatchObject([{ thinking: 'hm' }, { response: 'hi' }, { done: true }]);
    expect(headers['content-type']).toBe('application/x-ndjson');
  });

  it('loads a model when nothing is asked, for a key that may use it', async () => {
    const { post, loads } = await rig('generate');
    const { payload, headers } = await post({ keep_alive: 5 });
    expect(JSON.parse(payload)).toMatchObject({ done: true, done_reason: 'load', response: '' });
    expect(headers).toMatchObject({ 'x-switchyard-ignored': 'keep_alive' });
    expect(loads).toEqual(['m']);
    const other = await rig('chat', ownerOf('t', { terms: { key: 'k', models: ['e'] } }));
    expect((await other.post({})).json()).toMatchObject({ code: 'model_not_found' });
    expect(other.loads).toEqual([]);
  });

  it.each([
    [{ promptTokens: 3 }, 3],
    [undefined, 0],
  ])('embeds texts: %j', async (usage, tokens) => {
    const { post, next } = await rig('embed');
    const answer = post({ model: 'e:latest', input: ['a', 'b'], truncate: true });
    const started = await next();
    expect(started.work).toMatchObject({ model: 'e', payload: { inputs: 2 } });
    expect(JSON.parse(String(started.work.payload.body))).toEqual({
      model: 'e',
      input: ['a', 'b'],
    });
    const vectors = Buffer.from(Float32Array.from([1, 0.5, 0.25, 0]).buffer);
    started.answer({ kind: 'embeddings', vectors, dimensions: 2, usage });
    const { payload, headers } = await answer;
    expect(JSON.parse(payload)).toMatchObject({
      model: 'e:latest',
      load_duration: 0,
      prompt_eval_count: tokens,
      embeddings: [
        [1, 0.5],
        [0.25, 0],
      ],
    });
    expect(headers).toMatchObject({ 'x-switchyard-ignored': 'truncate' });
  });

  it.each([
    ['pull', 'switchyard models add m:latest'],
    ['push', 'switchyard models list'],
  ] as const)('says how models are added and listed here: %s', async (route, command) => {
    const { post } = await rig(route);
    expect((await post({})).json()).toMatchObject({
      code: 'unsupported_task',
      message: expect.stringContaining(command),
    });
  });
});

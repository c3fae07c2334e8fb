import { describe, expect, it } from '@jest/globals';
import { jsonOf, scriptedInference, served } from '../../../test/support/scripted-inference.js';
import { syntheticModel } from '../../../test/support/synthetic-model.js';
import { ModelList } from '../../platform/config/config.module.js';
import { settingsFrom } from '../../platform/config/settings.js';
import { ModelCatalog } from '../models/model-catalog.js';
import { CompletionsController } from './completions.controller.js';
import { RerankController } from './rerank.controller.js';
import { TextGenerationService } from './text-generation.service.js';
import { TokensController } from './tokens.controller.js';

const catalog = new ModelCatalog(
  new ModelList([
    syntheticModel(
      {},
      { id: 'm', kind: 'llm', aliases: ['gpt'], capabilities: ['chat', 'completions'] },
    ),
    syntheticModel({}, { id: 'e', kind: 'embedding', capabilities: ['embeddings', 'rerank'] }),
  ]),
);
/** Little endian. */
const floats = (...numbers: number[]) => Buffer.from(Float32Array.from(numbers).buffer);

async function rig(
  route: 'chat' | 'complete' | 'embed' | 'rerank' | 'tokenize' | 'detokenize',
  body: object,
) {
  const { inference, next } = scriptedInference();
  const settings = settingsFrom({});
  const parts = [catalog, new TextGenerationService(inference, settings), settings] as const;
  const controllers = {
    chat: new CompletionsController(...parts),
    complete: new CompletionsController(...parts),
    embed: new CompletionsController(...parts),
    rerank: new RerankController(...parts),
    tokenize: new TokensController(...parts),
    detokenize: new TokensController(...parts),
  };
  const server = await served((request, reply) =>
    (controllers[route] as unknown as Record<string, (...given: unknown[]) => unknown>)[route]!(
      jsonOf(request),
      reply,
    ),
  );
  const answer = server.post(body);
  return { answer, started: await next() };
}

describe('text over HTTP', () => {
  it.each([
    ['chat', { messages: [{ role: 'user', content: 'hi' }] }, 'chat'],
    ['complete', { prompt: 'hi' }, 'completion'],
  ] as const)(
    'is generated from the body as it came, and names model and tier: %s',
    async (route, body, form) => {
      const sent = { model: 'gpt', ...body, service_tier: 'flex', max_tokens: 5 };
      const { answer, started } = await rig(route, sent);
      expect(started.work).toMatchObject({ model: 'm', payload: { form, maxTokens: 5, n: 1 } });
      expect(String(started.work.payload.body)).toBe(JSON.stringify(sent));
      started.answer({ kind: 'generation', answer: Buffer.from('{"id":"x","model":"theirs"}') });
      expect((await answer).json()).toEqual({ id: 'x', model: 'm', service_tier: 'flex' });
    },
  );

  it('is streamed as events', async () => {
    const { answer, started } = await rig('complete', { model: 'm', prompt: 'hi', stream: true });
    started.output!.end(Buffer.from('{"id":"x"}'));
    started.answer({ kind: 'generation', answer: Buffer.alloc(0) });
    expect((await answer).payload).toMatch(/^data: \{.*"model":"m".*\}\n\ndata: \[DONE\]\n\n$/);
  });

  it.each([
    ['float', { promptTokens: 3 }, [[0.5, 1]], 3],
    ['base64', undefined, [floats(0.5, 1).toString('base64')], 0],
  ])('is embedded as %s', async (encoding, usage, vectors, tokens) => {
    const { answer, started } = await rig('embed', {
      model: 'e',
      input: ['a', 'b'],
      encoding_format: encoding,
    });
    expect(started.work).toMatchObject({ model: 'e', payload: { kind: 'embed', inputs: 2 } });
    started.answer({ kind: 'embeddings', vectors: floats(0.5, 1), dimensions: 2, usage });
    expect((await answer).json()).toMatchObject({
      data: vectors.map((embedding, index) => ({ index, embedding })),
      model: 'e',
      usage: { prompt_tokens: tokens, total_tokens: tokens },
    });
  });

  it.each([
    [{}, [1, 2, 0], undefined],
    [{ top_n: 2, return_documents: true }, [1, 2], 'b'],
  ])('is ranked, the best first: %j', async (fields, order, text) => {
    const documents = ['a', { text: 'b' }, 'c'];
    const { answer, started } = await rig('rerank', {
      model: 'e',
      query: 'q',
      documents,
      ...fields,
    });
    expect(started.work).toMatchObject({ payload: { form: 'rerank', inputs: 3 } });
    started.answer({ kind: 'embeddings', vectors: floats(0.25, 1, 0.5), dimensions: 1 });
    const { results, usage } = (await answer).json<{
      readonly results: readonly { index: number; relevance_score: number; document?: object }[];
      readonly usage: object;
    }>();
    expect(results.map(({ index }) => index)).toEqual(order);
    expect(results[0]).toMatchObject({ relevance_score: 1, ...(text && { document: { text } }) });
    if (!text) expect(results[0]).not.toHaveProperty('document');
    expect(usage).toEqual({ prompt_tokens: 0, total_tokens: 0 });
  });

  it.each([
    ['tokenize', { prompt: 'a' }],
    ['detokenize', { tokens: [1] }],
  ] as const)('is turned into tokens and back: %s', async (route, fields) => {
    const { answer, started } = await rig(route, { model: 'm', ...fields });
    expect(started.work.payload).toMatchObject({ form: route, maxTokens: 0, n: 1 });
    started.answer({ kind: 'generation', answer: Buffer.from('{"count":1}') });
    expect((await answer).json()).toEqual({ count: 1 });
  });
});

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type RerankingDto } from '../../../src/gateway/text/dto/reranking.dto.js';
import { modelSpec } from '../../contract/engines/engine-items.js';
import { rerankerModel } from '../../support/reranker-model.js';
import { errorOf, GatewayRig } from '../api/gateway-rig.js';

const QUERY = 'where trains change tracks';
const DOCUMENTS = [
  'bread is baked at night',
  'a switchyard',
  'trains change tracks at a switchyard',
  'night trains',
];

describe('/v1/rerank on llama.cpp', () => {
  let rig: GatewayRig;
  beforeAll(async () => {
    const options = {
      modelFile: await rerankerModel(),
      device: 'cpu',
      threads: 1,
      batchTokens: 64,
      batchTexts: 4,
    };
    const spec = modelSpec('llama-cpp', 'embedding', options);
    rig = await GatewayRig.start({
      models: [{ ...spec, id: 'ranker', capabilities: ['rerank'], replicas: 1 }],
      launch: 'hosted',
    });
  }, 120_000);
  afterAll(() => rig.close());

  const send = (fields: object) =>
    rig.post('/v1/rerank', { model: 'ranker', query: QUERY, ...fields });
  const rank = async (fields: object): Promise<RerankingDto> => {
    const answer = await send(fields);
    expect([answer.status, answer.headers.get('x-switchyard-model')]).toEqual([200, 'ranker']);
    return (await answer.json()) as RerankingDto;
  };

  it('gives every document a score from 0 to 1, the most relevant first', async () => {
    const { results, usage, model } = await rank({ documents: DOCUMENTS });
    expect(model).toBe('ranker');
    expect(results.map(({ index }) => index).sort()).toEqual([0, 1, 2, 3]);
    const scores = results.map(({ relevance_score: score }) => score);
    expect(scores).toEqual(scores.toSorted((a, b) => b - a));
    expect(new Set(scores).size).toBe(4);
    for (const score of scores) expect(score > 0 && score < 1).toBe(true);
    // [CLS] query [SEP] document [SEP]
    expect(usage.prompt_tokens).toBe(4 * (3 + 4) + 5 + 2 + 6 + 2);
  });

  it('has the id and meta of Cohere, under every name of the route', async () => {
    for (const path of [
      '/v1/rerank',
      '/rerank',
      '/rerank/',
      '/reranking',
      '/v1/reranking',
      '/v2/rerank?x=1',
    ]) {
      const answer = await rig.post(path, {
        model: 'ranker',
        query: QUERY,
        documents: DOCUMENTS,
      });
      expect([path, answer.status]).toEqual([path, 200]);
      expect(await answer.json()).toMatchObject({
        ...{ id: answer.headers.get('x-request-id'), object: 'list' },
        meta: {
          api_version: { version: '2' },
          tokens: { input_tokens: expect.any(Number) },
        },
      });
    }
    for (const path of ['/reranks', '/v2/reranking', '/v1/v2/rerank'])
      expect((await rig.post(path, { model: 'ranker' })).status).toBe(404);
  });

  it('gives a document the same score alone as among others, as a text and as an object', async () => {
    const together = await rank({ documents: DOCUMENTS });
    for (const [index, text] of DOCUMENTS.entries()) {
      const { results } = await rank({ documents: [{ text }] });
      const among = together.results.find(result => result.index === index)!;
      expect(results[0]!.relevance_score).toBeCloseTo(among.relevance_score, 4);
    }
  });

  it('answers with the best of them and their texts where that is asked for', async () => {
    const all = await rank({ documents: DOCUMENTS });
    const { results } = await rank({
      documents: DOCUMENTS,
      top_n: 2,
      return_documents: true,
    });
    expect(results.map(({ index }) => index)).toEqual(
      all.results.slice(0, 2).map(({ index }) => index),
    );
    for (const { index, document } of results) expect(document).toEqual({ text: DOCUMENTS[index] });
  });

  it.each<[string, object, string, string | null]>([
    ['no documents', {}, 'missing_required_parameter', 'documents'],
    ['an empty list', { documents: [] }, 'invalid_value', 'documents'],
    ['an empty document', { documents: ['a', ''] }, 'invalid_value', 'documents'],
    ['too many', { documents: Array(2049).fill('a') }, 'invalid_value', 'documents'],
    ['no results', { documents: ['a'], top_n: 0 }, 'invalid_value', 'top_n'],
    [
      'a document longer than a run',
      { documents: ['a', 'a '.repeat(70)] },
      'context_length_exceeded',
      'documents[1]',
    ],
    [
      'megabytes',
      { documents: ['a'.repeat(1_000_000)] },
      'context_length_exceeded',
      'documents[0]',
    ],
  ])('refuses %s', async (_what, fields, code, param) => {
    expect(await errorOf(send(fields))).toMatchObject({ status: 400, code, param });
  });

  it('refuses embeddings: its vectors are scores', async () => {
    expect(
      await errorOf(rig.post('/v1/embeddings', { model: 'ranker', input: 'a' })),
    ).toMatchObject({
      code: 'unsupported_task',
    });
  });
});

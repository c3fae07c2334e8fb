import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { GatewayRig } from '../api/gateway-rig.js';
import { chat, eventsOf, syntheticEmbedding, syntheticLlm } from './generation-rig.js';

let rig: GatewayRig;

beforeAll(async () => {
  const models = [
    syntheticLlm({ maxConcurrent: 32, perTokenMs: 2, tokens: 40 }),
    syntheticEmbedding({ baseMs: 50, maxBatch: 16 }),
  ];
  rig = await GatewayRig.start({ models, launch: 'hosted' });
  await Promise.all(models.map(({ id }) => rig.ready(id)));
}, 60_000);
afterAll(() => rig.close());

const ask = (content: string, fields: object = {}, init: RequestInit = {}) =>
  rig.post('/v1/chat/completions', chat(content, fields), init);

const textOf = (events: readonly string[]): string =>
  events
    .slice(0, -1)
    .map(
      event =>
        (JSON.parse(event) as { choices: { delta: { content?: string } }[] }).choices[0]?.delta
          .content ?? '',
    )
    .join('');

describe('chats side by side', () => {
  it('are 32 streams at once, each with its own words', async () => {
    const streams = Array.from({ length: 32 }, (_, i) =>
      ask(`caller-${i} speaks`, { stream: true }),
    );
    const texts = await Promise.all(
      streams.map(async response => textOf(await eventsOf(await response))),
    );
    texts.forEach((text, i) =>
      expect(text).toBe(Array.from({ length: 20 }, () => `caller-${i} speaks`).join(' ')),
    );
    expect(await rig.metric('llm_ttft_seconds_count{model="synthetic-llm"}')).toBe(32);
    expect(await rig.metric('llm_tokens_total{model="synthetic-llm",type="completion"}')).toBe(
      32 * 40,
    );
    const named = 'gen_ai_operation_name="chat",gen_ai_request_model="synthetic-llm"';
    const count = (name: string, more = '') => rig.metric(`${name}_count{${named}${more}}`);
    expect(await count('gen_ai_server_time_to_first_token_seconds')).toBe(32);
    expect(await count('gen_ai_server_request_duration_seconds')).toBe(32);
    for (const type of ['input', 'output'])
      expect(await count('gen_ai_client_token_usage', `,gen_ai_token_type="${type}"`)).toBe(32);
    const tokens = `gen_ai_client_token_usage_sum{${named},gen_ai_token_type="output"}`;
    expect(await rig.metric(tokens)).toBe(32 * 40);
    expect(await rig.metric('switchyard_replicas_wanted{model="synthetic-llm"}')).toBeGreaterThan(
      0,
    );
    expect(await rig.metric('llm_active_requests{model="synthetic-llm"}')).toBe(0);
    expect(
      await rig.metric('llm_inter_token_seconds_count{model="synthetic-llm"}'),
    ).toBeGreaterThan(0);
  });
});

describe('embeddings that wait together', () => {
  it('are computed together', async () => {
    const asked = Array.from({ length: 8 }, (_, i) =>
      rig.post('/v1/embeddings', { model: 'synthetic-vectors', input: `text ${i}` }),
    );
    const answers = await Promise.all(asked);
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 8 }, () => 200));
    const sizes = answers.map(({ headers }) => Number(headers.get('x-switchyard-batch-size')));
    expect(Math.max(...sizes)).toBeGreaterThan(1);
  });

  it('write numbers with the digits they have', async () => {
    const input = ['one', [1, 2, 3]];
    const wrong = await rig.post('/v1/embeddings', {
      model: 'synthetic-vectors',
      input,
    });
    expect(wrong.status).toBe(400);
    const right = await rig.post('/v1/embeddings', {
      model: 'synthetic-vectors',
      input: [[1, 2], [3]],
      dimensions: 2,
    });
    const { data } = (await right.json()) as { data: { embedding: number[] }[] };
    expect(data.map(({ embedding }) => embedding.length)).toEqual([2, 2]);
    for (const number of data.flatMap(({ embedding }) => embedding))
      expect(String(number).length).toBeLessThan(13);
  });
});

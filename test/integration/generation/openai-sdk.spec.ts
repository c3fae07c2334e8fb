import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import OpenAI from 'openai';
import { openaiAt } from '../../support/openai-at.js';
import { OpenAiUpstream } from '../../support/openai-upstream.js';
import { GatewayRig, until } from '../api/gateway-rig.js';
import { syntheticEmbedding, upstreamEmbedding, upstreamLlm } from './generation-rig.js';

let upstream: OpenAiUpstream;
let rig: GatewayRig;
let client: OpenAI;

beforeAll(async () => {
  upstream = await OpenAiUpstream.start({ models: ['its/own-name', 'its/own-vectors'] });
  const models = [upstreamLlm(upstream), upstreamEmbedding(upstream), syntheticEmbedding()];
  rig = await GatewayRig.start({ models, launch: 'hosted' });
  await Promise.all(models.map(({ id }) => rig.ready(id)));
  client = openaiAt(rig.url);
}, 60_000);
afterAll(async () => {
  await rig.close();
  await upstream[Symbol.asyncDispose]();
});

const messages = [{ role: 'user', content: 'on the right track' }] as const;
const model = 'gpt-4o-mini';

describe('the openai SDK, unchanged', () => {
  it('completes, whole and as a stream', async () => {
    const whole = await client.completions.create({
      model,
      prompt: 'a place in the line',
    });
    expect(whole.choices[0]?.text).toBe('a place in the line');
    const texts: string[] = [];
    const stream = await client.completions.create({
      model,
      prompt: 'a place in the line',
      stream: true,
    });
    for await (const { choices } of stream) texts.push(choices[0]?.text ?? '');
    expect(texts.join('')).toBe('a place in the line');
  });

  it.each(['upstream-vectors', 'text-embedding-3-small'])(
    'embeds with %s: base64 and numbers are the same',
    async name => {
      const input = ['one', 'two', 'three'];
      const packed = await client.embeddings.create({ model: name, input });
      const plain = await client.embeddings.create({
        model: name,
        input,
        encoding_format: 'float',
      });
      expect(packed.data.map(({ index }) => index)).toEqual([0, 1, 2]);
      const asFloats = (list: OpenAI.CreateEmbeddingResponse) =>
        list.data.map(({ embedding }) => embedding.map(number => Math.fround(number)));
      expect(asFloats(packed)).toEqual(asFloats(plain));
      expect(plain.usage.prompt_tokens).toBeGreaterThan(0);
    },
  );

  it('shortens vectors where the model can', async () => {
    const { data } = await client.embeddings.create({
      model: 'text-embedding-3-small',
      input: 'one',
      dimensions: 3,
    });
    expect(data[0]?.embedding).toHaveLength(3);
  });

  it('aborts a stream: the call to the upstream is closed', async () => {
    const before = upstream.posts.length;
    const stream = await client.chat.completions.create({
      model,
      messages: [{ role: 'user', content: 'ENDLESS' }],
      stream: true,
    });
    for await (const chunk of stream) {
      expect(chunk.choices[0]?.delta.content).toBe('ENDLESS');
      stream.controller.abort();
    }
    expect(await (await upstream.post(before)).closed.passed).toEqual({ early: true });
    await until(() => rig.pool.workers().every(({ slots }) => slots.inUse === 0));
    expect(
      await rig.metric(
        'scheduler_requests_total{status="cancelled",priority="batch",model="upstream-llm"}',
      ),
    ).toBe(1);
  });

  it('gets typed errors', async () => {
    const unknown = client.chat.completions.create({
      model: 'gpt-9',
      messages: [...messages],
    });
    await expect(unknown).rejects.toMatchObject({
      status: 404,
      code: 'model_not_found',
      param: 'model',
    });
    const refused = client.chat.completions.create({
      model,
      messages: [{ role: 'user', content: 'FAIL' }],
    });
    await expect(refused).rejects.toMatchObject({
      status: 400,
      code: 'invalid_value',
      param: 'messages',
    });
  });
});

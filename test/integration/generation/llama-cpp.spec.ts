import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import OpenAI from 'openai';
import { type ModelSpec } from '../../../src/platform/config/model-spec.js';
import { llamaModel } from '../../support/llama-model.js';
import { openaiAt } from '../../support/openai-at.js';
import { syntheticModel } from '../../support/synthetic-model.js';
import { GatewayRig, until } from '../api/gateway-rig.js';
import { llamaLlm } from './generation-rig.js';

const model = 'llama';
/** No end of the answer: it goes on until its limit, or until somebody stops it. */
const ENDLESS = { grammar: 'root ::= [a-z ] root', max_tokens: 900 };

let rig: GatewayRig;
let client: OpenAI;

const vectors = async (): Promise<ModelSpec> =>
  syntheticModel(
    { device: 'cpu', threads: 1, modelFile: await llamaModel({ pooling: 'mean' }) },
    { id: 'vectors', kind: 'embedding', engine: 'llama-cpp', capabilities: ['embeddings'] },
  );

beforeAll(async () => {
  rig = await GatewayRig.start({
    models: [
      await llamaLlm(['chat', 'completions', 'tools', 'logprobs'], { replicas: 2 }),
      await vectors(),
    ],
    launch: 'hosted',
  });
  client = openaiAt(rig.url);
  await rig.allReady();
}, 150_000);
afterAll(() => rig.close());

const messages = [{ role: 'user' as const, content: 'what does a switchyard do?' }];

describe('the openai SDK on llama.cpp', () => {
  it('chats, whole and as a stream: the same text for the same seed', async () => {
    const asked = { model, messages, max_tokens: 24, seed: 3 };
    const whole = await client.chat.completions.create(asked);
    expect(whole.choices[0]?.finish_reason).toMatch(/stop|length/);
    expect(whole.usage?.total_tokens).toBe(
      whole.usage!.prompt_tokens + whole.usage!.completion_tokens,
    );
    const streamed = await client.chat.completions.stream(asked).finalContent();
    expect(streamed).toBe(whole.choices[0]?.message.content);
  });

  it('gets JSON by a schema, choices, log-probabilities and a stop string', async () => {
    const schema = {
      type: 'object',
      properties: { on: { type: 'boolean' } },
      required: ['on'],
      additionalProperties: false,
    };
    const json = await client.chat.completions.create({
      ...{ model, messages, n: 2, max_tokens: 200, logprobs: true, top_logprobs: 2 },
      response_format: {
        type: 'json_schema',
        json_schema: { name: 'switch', schema, strict: true },
      },
    });
    for (const { message, logprobs } of json.choices) {
      expect(JSON.parse(message.content!)).toEqual({ on: expect.any(Boolean) });
      expect(logprobs?.content?.[0]?.top_logprobs).toHaveLength(2);
    }
    const grammar = { grammar: 'root ::= "one two three"', stop: ' thr' };
    const stopped = await client.completions.create({
      model,
      prompt: 'count',
      max_tokens: 50,
      ...grammar,
    });
    expect(stopped.choices[0]).toMatchObject({ text: 'one two', finish_reason: 'stop' });
  });

  it('hears what can never fit as OpenAI says it', async () => {
    const long = { model, messages, max_tokens: 2000 };
    await expect(client.chat.completions.create(long)).rejects.toMatchObject({
      ...{ status: 400, code: 'context_length_exceeded' },
      message: expect.stringContaining('maximum context length is 1024 tokens'),
    });
  });

  it('embeds, as floats and in base64', async () => {
    const input = ['on the right track', 'a switch'];
    const floats = await client.embeddings.create({
      model: 'vectors',
      input,
      encoding_format: 'float',
    });
    const packed = await client.embeddings.create({ model: 'vectors', input });
    expect(floats.data).toHaveLength(2);
    for (const { embedding } of floats.data) expect(Math.hypot(...embedding)).toBeCloseTo(1, 4);
    packed.data[1]?.embedding.forEach((value, at) =>
      expect(value).toBeCloseTo(floats.data[1]!.embedding[at]!, 6),
    );
  });
});

describe('a stream from llama.cpp', () => {
  it('tells where its time went, and the gateway counts its tokens and steps', async () => {
    const response = await rig.post('/v1/chat/completions', {
      model,
      messages,
      max_tokens: 8,
      grammar: ENDLESS.grammar,
    });
    expect(Number(response.headers.get('x-switchyard-ttft-ms'))).toBeGreaterThan(0);
    expect(response.headers.get('server-timing')).toMatch(/queue;dur=.*ttft;dur=/);
    const { usage } = (await response.json()) as {
      usage: { completion_tokens: number };
    };
    expect(usage.completion_tokens).toBe(8);
    expect(response.headers.get('x-switchyard-completion-tokens')).toBe('8');
    const workers = rig.pool.workers().filter(worker => worker.model === 'llama');
    const steps = async (): Promise<number> => {
      const each = await Promise.all(
        workers.map(({ id }) => rig.metric(`llm_steps_total{model="llama",worker="${id}"}`)),
      );
      return each.reduce((sum, value) => sum + (value || 0), 0);
    };
    await until(async () => (await steps()) > 0);
    expect(await rig.metric(`llm_kv_blocks{model="llama",worker="${workers[0]!.id}"}`)).toBe(
      4 * 32,
    );
  });
});

describe('two workers of one model', () => {
  it('have each conversation at one of them, where its beginning is in the cache', async () => {
    const opening =
      'a long conversation that goes on and on, turn after turn, always with the same beginning. ';
    const turn = async (talk: number): Promise<number> => {
      const content = `${talk}: ${opening}`;
      const body = {
        model,
        messages: [{ role: 'user', content }],
        max_tokens: 2,
        grammar: ENDLESS.grammar,
      };
      const { usage } = (await (await rig.post('/v1/chat/completions', body)).json()) as {
        usage: { prompt_tokens_details: { cached_tokens: number } };
      };
      return usage.prompt_tokens_details.cached_tokens;
    };
    // As many as one worker has slots: all of them may be routed to the same worker, and
    // a slot keeps one conversation.
    for (let talk = 0; talk < 4; talk++) expect(await turn(talk)).toBe(0);
    for (let talk = 3; talk >= 0; talk--) expect(await turn(talk)).toBeGreaterThanOrEqual(32);
  });
});

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import OpenAI from 'openai';
import { type ModelSpec } from '../../src/platform/config/model-spec.js';
import { llamaModel } from '../support/llama-model.js';
import { processTree } from '../support/process-tree.js';
import { Product } from '../support/product.js';
import { syntheticModel } from '../support/synthetic-model.js';

const model = 'llama';
const messages = [{ role: 'user' as const, content: 'what does a switchyard do?' }];
/** No end of the answer: it goes on until its limit, or until somebody stops it. */
const endless = (max_tokens: number) => ({
  grammar: 'root ::= [a-z ] root',
  max_tokens,
});
const TOOLS = [
  {
    type: 'function' as const,
    function: { name: 'switch_track', parameters: { type: 'object', properties: {} } },
  },
];

async function models(): Promise<ModelSpec[]> {
  const shared = { device: 'cpu', threads: 1 };
  const text = {
    ...shared,
    exact: true,
    rows: 4,
    contextTokens: 1024,
    modelFile: await llamaModel(),
  };
  const vectors = { ...shared, modelFile: await llamaModel({ pooling: 'mean' }) };
  const capabilities = ['chat', 'completions', 'tools', 'logprobs'];
  return [
    syntheticModel(text, { id: model, kind: 'llm', engine: 'llama-cpp', capabilities }),
    syntheticModel(vectors, {
      id: 'vectors',
      kind: 'embedding',
      engine: 'llama-cpp',
      capabilities: ['embeddings'],
    }),
  ];
}

describe('llama.cpp behind the built product', () => {
  let product: Product;
  let openai: OpenAI;

  beforeAll(async () => {
    product = await Product.start(await models());
    openai = new OpenAI({
      baseURL: `${product.url}/v1`,
      apiKey: 'unused',
      maxRetries: 0,
      timeout: 60_000,
    });
    await product.allReady();
  }, 120_000);
  afterAll(async () => product[Symbol.asyncDispose]());

  const isIdle = async (): Promise<boolean> =>
    (await product.workers()).every(({ slots }) => slots.free === slots.total);

  it('chats, whole and streamed, with the same words and the same usage', async () => {
    const asked = { model, messages, max_tokens: 24, seed: 3 };
    const whole = await openai.chat.completions.create(asked);
    const stream = await openai.chat.completions.create({
      ...{ ...asked, stream: true as const, stream_options: { include_usage: true } },
    });
    let text = '';
    let usage: OpenAI.CompletionUsage | null | undefined;
    for await (const chunk of stream) {
      text += chunk.choices[0]?.delta.content ?? '';
      usage = chunk.usage ?? usage;
    }
    expect(text).toBe(whole.choices[0]?.message.content);
    expect(usage?.completion_tokens).toBe(whole.usage?.completion_tokens);
    expect(usage?.total_tokens).toBe(usage!.prompt_tokens + usage!.completion_tokens);
  });

  it('completes several prompts, and embeds', async () => {
    const { choices, usage } = await openai.completions.create({
      ...{ model, prompt: ['on track', 'off track'], temperature: 0, ...endless(5) },
    });
    expect(choices.map(({ index, finish_reason }) => [index, finish_reason])).toEqual([
      [0, 'length'],
      [1, 'length'],
    ]);
    expect(usage?.completion_tokens).toBe(10);
    const { data } = await openai.embeddings.create({
      model: 'vectors',
      input: ['a switch', 'a yard'],
    });
    for (const { embedding } of data) expect(Math.hypot(...embedding)).toBeCloseTo(1, 4);
  });

  it('holds an answer to a JSON schema', async () => {
    const schema = {
      type: 'object',
      properties: { on: { type: 'boolean' } },
      required: ['on'],
    };
    const { choices } = await openai.chat.completions.create({
      ...{ model, messages, max_tokens: 200 },
      response_format: {
        type: 'json_schema',
        json_schema: {
          name: 'switch',
          schema: { ...schema, additionalProperties: false },
          strict: true,
        },
      },
    });
    expect(JSON.parse(choices[0]!.message.content!)).toEqual({
      on: expect.any(Boolean),
    });
  });

  it('passes calls of tools through, streamed as the SDK gathers them', async () => {
    // A model of random weights calls nothing by itself.
    const grammar =
      String.raw`root ::= "<tool_call>{\"name\": \"switch_track\", ` +
      String.raw`\"arguments\": {\"to\": 4}}</tool_call>"`;
    const asked = { model, messages, tools: TOOLS, max_tokens: 200, grammar };
    const { choices } = await openai.chat.completions.create(asked);
    const called = {
      type: 'function',
      function: { name: 'switch_track', arguments: expect.stringMatching(/"to": ?4/) },
    };
    expect(choices[0]).toMatchObject({
      finish_reason: 'tool_calls',
      message: { tool_calls: [called] },
    });
    const streamed = await openai.chat.completions.stream(asked).finalChatCompletion();
    expect(streamed.choices[0]).toMatchObject({
      finish_reason: 'tool_calls',
      message: { tool_calls: [called] },
    });
  });

  it.each([
    ['required', 'required', 'tool_calls'],
    ['a named function', { type: 'function', function: { name: 'switch_track' } }, 'stop'],
  ] as const)(
    'calls a tool where `tool_choice` is %s, with arguments as its schema says',
    async (_, choice, reason) => {
      const to = { type: 'integer', minimum: 3, maximum: 25 };
      const parameters = {
        type: 'object',
        properties: { to },
        required: ['to'],
        additionalProperties: false,
      };
      const tools = [{ type: 'function' as const, function: { name: 'switch_track', parameters } }];
      const asked = {
        model,
        messages,
        tools,
        tool_choice: choice,
        parallel_tool_calls: false,
        max_tokens: 300,
      };
      const { choices } = await openai.chat.completions.create(asked);
      const streamed = await openai.chat.completions.stream(asked).finalChatCompletion();
      for (const { finish_reason, message } of [choices[0]!, streamed.choices[0]!]) {
        const [call, ...others] =
          message.tool_calls as OpenAI.ChatCompletionMessageFunctionToolCall[];
        expect([finish_reason, others, call!.function.name]).toEqual([reason, [], 'switch_track']);
        const { to: track } = JSON.parse(call!.function.arguments) as { to: number };
        expect(track).toBeGreaterThanOrEqual(3);
        expect(track).toBeLessThanOrEqual(25);
      }
    },
  );

  it.each(['cancel endpoint', 'disconnect'])('frees its row at once by %s', async way => {
    const id = `gone-by-${way.split(' ')[0]}`;
    const stream = await openai.chat.completions.create(
      { model, messages, stream: true, ...endless(900) },
      { headers: { 'x-request-id': id } },
    );
    let seen = 0;
    const reading = (async () => {
      for await (const _ of stream)
        if (++seen === 5 && way === 'disconnect') stream.controller.abort();
    })().catch(() => undefined);
    await product.until('five chunks', () => Promise.resolve(seen >= 5));
    if (way !== 'disconnect') {
      expect(await isIdle()).toBe(false);
      await fetch(`${product.url}/v1/requests/${id}/cancel`, { method: 'POST' });
    }
    await reading;
    expect(seen).toBeLessThan(900);
    await product.until('its slot to be free', isIdle);
  });

  it('goes on with the same words when the process of the model is killed in the middle', async () => {
    const asked = [1, 2, 3].map(seed => ({ model, messages, seed, ...endless(120) }));
    const alone: string[] = [];
    for (const one of asked)
      alone.push((await openai.chat.completions.create(one)).choices[0]!.message.content!);
    let chunks = 0;
    const streams = asked.map(async one => {
      let text = '';
      for await (const chunk of await openai.chat.completions.create({
        ...one,
        stream: true,
      })) {
        text += chunk.choices[0]?.delta.content ?? '';
        chunks += 1;
      }
      return text;
    });
    await product.until('all have begun', () => Promise.resolve(chunks > 30));
    const engine = processTree(product.gateway.process.child.pid).find(({ command }) =>
      command.startsWith('switchyard llama-cpp '),
    )!;
    const titles = processTree(product.gateway.process.child.pid).map(({ command }) => command);
    expect(titles).toEqual(
      expect.arrayContaining(['switchyard gateway', `switchyard worker ${model}`]),
    );
    process.kill(engine.pid, 'SIGKILL');
    expect(await Promise.all(streams)).toEqual(alone);
    const { restarts } = (await product.workers()).find(worker => worker.model === model)!;
    expect(restarts).toBe(0);
  });
});

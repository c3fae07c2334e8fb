import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Ollama } from 'ollama';
import { type OpenAiUpstream } from '../../support/openai-upstream.js';
import { type GatewayRig } from '../api/gateway-rig.js';
import { chunk, DialectRig } from '../generation/dialect-rig.js';

const model = 'llama';
const messages = [{ role: 'user', content: 'what does a switchyard do?' }];

let dialect: DialectRig;
let rig: GatewayRig;
let upstream: OpenAiUpstream;
let script: DialectRig['script'];
let client: Ollama;

beforeAll(async () => {
  dialect = await DialectRig.start();
  ({ rig, upstream, script } = dialect);
  client = new Ollama({ host: rig.url });
}, 150_000);
afterAll(async () => dialect[Symbol.asyncDispose]());

const weather = {
  type: 'function',
  function: {
    name: 'weather',
    description: 'The weather at a place.',
    parameters: {
      type: 'object',
      required: ['celsius'],
      properties: { celsius: { type: 'boolean', description: 'Or Fahrenheit.' } },
    },
  },
};

describe('the API of Ollama by its client', () => {
  it('chats whole and by lines', async () => {
    const order = { model, messages, options: { temperature: 0, num_predict: 24 } };
    const whole = await client.chat({ ...order, model: `${model}:latest` });
    expect(whole).toMatchObject({
      model: `${model}:latest`,
      message: { role: 'assistant', content: expect.any(String) },
      done: true,
      eval_count: expect.any(Number),
      prompt_eval_count: expect.any(Number),
      total_duration: expect.any(Number),
    });
    let text = '';
    let last;
    for await (const part of await client.chat({ ...order, stream: true })) {
      text += part.message.content;
      last = part;
    }
    expect(text).toBe(whole.message.content);
    expect(last).toMatchObject({ done: true, eval_count: whole.eval_count });
    expect(['stop', 'length']).toContain(last?.done_reason);
  });

  it('generates from a prompt, with and without the template', async () => {
    const options = { temperature: 0, num_predict: 8 };
    const prompt = 'a switchyard is';
    const answer = await client.generate({
      model,
      prompt,
      system: 'Be short.',
      options,
    });
    expect(answer).toMatchObject({ response: expect.any(String), done: true });
    const raw = await client.generate({ model, prompt, raw: true, options });
    const completion = await rig.post('/v1/completions', {
      ...{ model, prompt, temperature: 0, max_tokens: 8 },
    });
    const { choices } = (await completion.json()) as { choices: { text: string }[] };
    expect(raw.response).toBe(choices[0]!.text);
  });

  it('holds an answer by a schema', async () => {
    const format = {
      ...{ type: 'object', required: ['on'], additionalProperties: false },
      properties: { on: { type: 'boolean' } },
    };
    const { message } = await client.chat({
      model,
      messages,
      format,
      options: { num_predict: 200 },
    });
    expect(JSON.parse(message.content)).toEqual({ on: expect.any(Boolean) });
  });

  it('has thoughts and calls, and gets them back as a chat has them', async () => {
    const body = {
      model: 'its/own-name',
      choices: [
        {
          index: 0,
          message: {
            ...{ role: 'assistant', content: '', reasoning_content: 'hm' },
            tool_calls: [
              {
                id: 'c1',
                type: 'function',
                function: { name: 'weather', arguments: '{"celsius":true}' },
              },
            ],
          },
          finish_reason: 'tool_calls',
        },
      ],
    };
    upstream.script({
      kind: 'body',
      type: 'application/json',
      body: JSON.stringify(body),
    });
    const before = upstream.posts.length;
    const order = { model: 'upstream-llm', tools: [weather] };
    const { message } = await client.chat({ ...order, messages, think: true });
    expect(message).toMatchObject({
      thinking: 'hm',
      tool_calls: [{ function: { name: 'weather', arguments: { celsius: true } } }],
    });
    expect((await upstream.post(before)).json()).toMatchObject({
      model: 'its/own-name',
      chat_template_kwargs: { enable_thinking: true },
      tools: [weather],
    });
    script(
      chunk({
        tool_calls: [{ index: 0, id: 'c2', function: { name: 'weather', arguments: '{"cel' } }],
      }),
      chunk(
        { tool_calls: [{ index: 0, function: { arguments: 'sius":false}' } }] },
        { finish_reason: 'tool_calls' },
      ),
    );
    const again = [
      ...messages,
      message,
      { role: 'tool', content: 'rain', tool_name: 'weather' },
      { role: 'user', content: 'And this?', images: ['/9j/AAAA'] },
    ];
    const parts = [];
    for await (const part of await client.chat({
      ...order,
      messages: again,
      stream: true,
      think: 'high',
    }))
      parts.push(part);
    expect(parts).toMatchObject([
      {
        message: { tool_calls: [{ function: { arguments: { celsius: false } } }] },
        done: false,
      },
      { done: true, done_reason: 'stop' },
    ]);
    expect((await upstream.post(before + 1)).json()).toMatchObject({
      reasoning_effort: 'high',
      messages: [
        messages[0],
        {
          content: null,
          reasoning_content: 'hm',
          tool_calls: [{ id: 'call_1_0', function: { arguments: '{"celsius":true}' } }],
        },
        { role: 'tool', tool_call_id: 'call_1_0', content: 'rain' },
        {
          content: [
            { type: 'text', text: 'And this?' },
            { type: 'image_url', image_url: { url: 'data:image/jpeg;base64,/9j/AAAA' } },
          ],
        },
      ],
    });
  });

  it('embeds', async () => {
    const input = ['on the right track', 'a place in the line'];
    const { embeddings, model: named } = await client.embed({
      model: 'synthetic-vectors',
      input,
    });
    const answer = await rig.post('/v1/embeddings', {
      model: 'synthetic-vectors',
      input,
    });
    const { data } = (await answer.json()) as { data: { embedding: number[] }[] };
    expect(named).toBe('synthetic-vectors');
    expect(embeddings.map(row => row.map(value => value.toFixed(5)))).toEqual(
      data.map(({ embedding }) => embedding.map(value => value.toFixed(5))),
    );
    const short = await client.embed({
      model: 'synthetic-vectors',
      input: 'x',
      dimensions: 4,
    });
    expect(short.embeddings.map(({ length }) => length)).toEqual([4]);
  });

  it('takes a list of token ids as one input', async () => {
    const answer = await rig.post('/api/embed', { model: 'synthetic-vectors', input: [1, 2, 3] });
    const { embeddings } = (await answer.json()) as { embeddings: unknown[] };
    expect(embeddings).toHaveLength(1);
  });

  it('takes no more inputs, and no longer vectors, than the route of OpenAI', async () => {
    const model = 'synthetic-vectors';
    for (const fields of [{ input: Array(2049).fill('x') }, { input: 'x', dimensions: 16_385 }]) {
      const answers = await Promise.all(
        ['/api/embed', '/v1/embeddings'].map(path => rig.post(path, { model, ...fields })),
      );
      expect(answers.map(({ status }) => status)).toEqual([400, 400]);
    }
  });

  it('tells its models, and what they can do', async () => {
    const { models } = await client.list();
    expect(models.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['llama', 'gpt-4o-mini', 'synthetic-vectors']),
    );
    expect((await client.ps()).models.map(({ name }) => name)).toContain('llama');
    expect(await client.show({ model: 'llama:latest' })).toMatchObject({
      details: { format: 'gguf' },
      capabilities: ['completion', 'tools'],
      model_info: { 'general.architecture': 'llama-cpp', 'general.basename': 'llama' },
    });
    // VS Code's provider asks for 0.6.4.
    const [major = 0, minor = 0] = (await client.version()).version.split('.').map(Number);
    expect(major * 100 + minor).toBeGreaterThanOrEqual(7);
  });

  it('loads a model that is asked nothing', async () => {
    const loaded = { model: 'llama:latest', done: true, done_reason: 'load' };
    expect(await client.generate({ model: 'llama:latest', prompt: '' })).toMatchObject({
      ...loaded,
      response: '',
    });
    expect(await client.chat({ model: 'llama:latest' })).toMatchObject(loaded);
    const unknown = await rig.post('/api/generate', { model: 'none' });
    expect(unknown.status).toBe(404);
  });

  it('reports what has no effect here', async () => {
    const answer = await rig.post('/api/chat', {
      ...{ model, messages, keep_alive: '5m', stream: false, zebra: 1 },
      options: { num_ctx: 4096, num_predict: 4000, stop: [' '] },
    });
    expect([answer.status, answer.headers.get('x-switchyard-ignored')]).toEqual([
      200,
      'keep_alive, zebra, options.num_ctx, options.num_predict',
    ]);
  });

  it.each([undefined, 'text/plain', 'application/x-www-form-urlencoded'])(
    'reads JSON whatever its type is: %s',
    async type => {
      const answer = await fetch(`${rig.url}/api/chat`, {
        method: 'POST',
        headers: type === undefined ? {} : { 'content-type': type },
        body: Buffer.from(
          JSON.stringify({ model, messages, stream: false, options: { num_predict: 2 } }),
        ),
      });
      expect(answer.status).toBe(200);
    },
  );

  it('has the probabilities of tokens, whole and by lines', async () => {
    const scored = { token: 'It', logprob: -0.5, bytes: [73, 116], top_logprobs: [] };
    const more = { logprobs: { content: [scored] }, finish_reason: 'stop' };
    script(chunk({ content: 'It' }, more));
    const body = { model: 'upstream-llm', messages, logprobs: true, top_logprobs: 2 };
    const lines = await (await rig.post('/api/chat', body)).text();
    expect(JSON.parse(lines.split('\n')[0]!)).toMatchObject({ logprobs: [scored] });
    expect(upstream.posts.at(-1)!.json()).toMatchObject({ logprobs: true, top_logprobs: 2 });
  });

  it.each([
    ['chat', { model: 'none' }, 404, /`none` does not exist/],
    ['chat', { messages: [{ content: 'x' }] }, 400, /`messages\[0\]\.role`/],
    ['chat', { messages: [{ role: 'user', content: 5 }] }, 400, /`messages\[0\]\.content`/],
    ['chat', { options: 5 }, 400, /`options`/],
    ['chat', { options: { temperature: 'hot' } }, 400, /`options\.temperature`/],
    ['chat', { template: '{{ x }}' }, 400, /`template`/],
    ['generate', { suffix: 'end' }, 400, /`suffix`/],
    ['embed', { model: 'synthetic-vectors', input: '' }, 400, /`input`/],
    ['pull', { model: 'whisper-small' }, 400, /switchyard models add whisper-small/],
    ['push', {}, 400, /not published/],
    ['show', { model: 'none' }, 404, /does not exist/],
  ])('refuses %s %j with %i', async (path, fields, status, message) => {
    const answer = await rig.post(`/api/${path}`, {
      model,
      messages,
      prompt: 'x',
      ...fields,
    });
    expect(answer.status).toBe(status);
    expect(await answer.json()).toEqual({ error: expect.stringMatching(message) });
  });
});

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { errorOf, expectError, GatewayRig } from '../api/gateway-rig.js';
import { sttModel } from '../api/models.js';
import { chat, syntheticEmbedding, syntheticLlm } from './generation-rig.js';

let rig: GatewayRig;

beforeAll(async () => {
  const off = { replicas: 0 } as const;
  const models = [
    syntheticLlm({}, off),
    syntheticLlm({}, { ...off, id: 'chat-only', capabilities: ['chat', 'tools'] }),
    { ...syntheticEmbedding(), ...off, capabilities: ['embeddings'] },
    sttModel(),
  ];
  rig = await GatewayRig.start({ models });
});
afterAll(() => rig.close());

const messages = [{ role: 'user', content: 'x' }];

describe('POST /v1/chat/completions refuses', () => {
  it.each([
    ['no model', { model: undefined }, 'missing_required_parameter', 'model'],
    ['a model of another kind', { model: 'stt' }, 'model_kind_mismatch', 'model'],
    ['an embedding model', { model: 'synthetic-vectors' }, 'model_kind_mismatch', 'model'],
    ['no messages', { messages: undefined }, 'missing_required_parameter', 'messages'],
    ['an empty list of messages', { messages: [] }, 'missing_required_parameter', 'messages'],
    ['messages that are no list', { messages: 'hello' }, 'invalid_value', 'messages'],
    [
      'a message that is no object',
      { messages: [...messages, 'hello'] },
      'invalid_value',
      'messages[1]',
    ],
    [
      'a message without a role',
      { messages: [{ content: 'x' }] },
      'missing_required_parameter',
      'messages[0].role',
    ],
    [
      'a role that is no text',
      { messages: [{ role: 5, content: 'x' }] },
      'invalid_value',
      'messages[0].role',
    ],
    ['n 0', { n: 0 }, 'invalid_value', 'n'],
    ['n 129', { n: 129 }, 'invalid_value', 'n'],
    ['n 1.5', { n: 1.5 }, 'invalid_value', 'n'],
    ['temperature 3', { temperature: 3 }, 'invalid_value', 'temperature'],
    ['max_tokens 0', { max_tokens: 0 }, 'invalid_value', 'max_tokens'],
    ['a stream that is no boolean', { stream: 'yes' }, 'invalid_value', 'stream'],
    ['stream_options without stream', { stream_options: {} }, 'invalid_value', 'stream_options'],
    [
      'include_usage that is no boolean',
      { stream: true, stream_options: { include_usage: 1 } },
      'invalid_value',
      'stream_options.include_usage',
    ],
    ['a stop that is no text', { stop: [1] }, 'invalid_value', 'stop'],
    ['top_logprobs without logprobs', { top_logprobs: 1 }, 'invalid_value', 'top_logprobs'],
    ['logprobs of a model without', { logprobs: true }, 'unsupported_parameter', 'logprobs'],
    [
      'tools of a model without',
      { tools: [{ type: 'function', function: { name: 'f' } }] },
      'unsupported_parameter',
      'tools',
    ],
    ['an unknown tier', { service_tier: 'gold' }, 'invalid_value', 'service_tier'],
  ])('%s', async (_title, fields, code, param) => {
    const error = await errorOf(rig.post('/v1/chat/completions', chat('x', fields)));
    expect(error).toMatchObject({ status: 400, code, param });
    expect(error.headers.get('x-should-retry')).toBe('false');
  });

  it.each([
    [{ messages: ['hello'] }, '`messages[0]` must be an object with a role; got "hello".'],
    [
      { messages: [{ content: 'x' }] },
      '`messages[0].role` is required: it must be a text such as user.',
    ],
    [{ messages: [{ role: 5 }] }, '`messages[0].role` must be a text such as user; got 5.'],
    [{ n: -1 }, '`n` must be a number from 1 to 128; got -1.'],
    [
      { stream: true, stream_options: { include_usage: 1 } },
      '`stream_options.include_usage` must be true or false; got 1.',
    ],
  ])('%j with the field, the value and what is allowed', async (fields, message) => {
    await expectError(rig.post('/v1/chat/completions', chat('x', fields)), {
      message,
    });
  });

  it('what is no JSON object, and a form', async () => {
    const headers = { 'content-type': 'application/json' };
    const post = (body: string) =>
      fetch(`${rig.url}/v1/chat/completions`, { method: 'POST', headers, body });
    const noObject = (got: string) => ({
      code: 'invalid_json',
      message: `The body must be a JSON object; got ${got}.`,
    });
    await expectError(post('[1]'), {
      status: 400,
      ...noObject('[1]'),
    });
    await expectError(post(''), {
      status: 400,
      ...noObject('nothing'),
    });
    await expectError(post('{"model":'), {
      status: 400,
      code: 'invalid_json',
    });
    for (const where of ['messages', 'unknown']) {
      const deep = `{"model":"synthetic-llm","${where}":${'['.repeat(100_000)}${']'.repeat(100_000)}}`;
      const message = 'The JSON body is nested deeper than 256 levels.';
      await expectError(post(deep), {
        status: 400,
        code: 'invalid_json',
        message,
      });
    }
    await expectError(post('{"__proto__":{"a":1}}'), {
      status: 400,
      code: 'invalid_json',
    });
    await expectError(rig.post('/v1/chat/completions', new FormData()), {
      status: 415,
    });
  });
});

describe('POST /v1/completions refuses', () => {
  it.each([
    ['no prompt', { prompt: undefined }, 'missing_required_parameter', 'prompt'],
    ['an empty list', { prompt: [] }, 'invalid_value', 'prompt'],
    ['texts and tokens mixed', { prompt: ['a', 1] }, 'invalid_value', 'prompt'],
    [
      '2049 prompts',
      { prompt: Array.from({ length: 2049 }, () => 'a') },
      'invalid_value',
      'prompt',
    ],
    [
      '129 prompts of 16 choices',
      { prompt: Array.from({ length: 129 }, () => 'a'), n: 16 },
      'invalid_value',
      'prompt',
    ],
    ['max_tokens -1', { max_tokens: -1 }, 'invalid_value', 'max_tokens'],
    ['a model that chats only', { model: 'chat-only' }, 'unsupported_task', 'model'],
  ])('%s', async (_title, fields, code, param) => {
    const body = { model: 'synthetic-llm', prompt: 'x', ...fields };
    await expectError(rig.post('/v1/completions', body), {
      status: 400,
      code,
      param,
    });
  });
});

describe('POST /v1/embeddings refuses', () => {
  it.each([
    ['no input', { input: undefined }, 'missing_required_parameter', 'input'],
    ['an empty text', { input: ['a', ''] }, 'invalid_value', 'input'],
    ['2049 inputs', { input: Array.from({ length: 2049 }, () => 'a') }, 'invalid_value', 'input'],
    ['another encoding', { encoding_format: 'int8' }, 'invalid_value', 'encoding_format'],
    ['dimensions of a model without', { dimensions: 4 }, 'unsupported_parameter', 'dimensions'],
    ['a language model', { model: 'synthetic-llm' }, 'model_kind_mismatch', 'model'],
  ])('%s', async (_title, fields, code, param) => {
    const body = { model: 'synthetic-vectors', input: 'x', ...fields };
    await expectError(rig.post('/v1/embeddings', body), {
      status: 400,
      code,
      param,
    });
  });
});

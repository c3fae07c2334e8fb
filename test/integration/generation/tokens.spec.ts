import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { OpenAiUpstream } from '../../support/openai-upstream.js';
import { expectError, GatewayRig } from '../api/gateway-rig.js';
import { llamaLlm, upstreamLlm } from './generation-rig.js';

let rig: GatewayRig;
let upstream: OpenAiUpstream;
beforeAll(async () => {
  upstream = await OpenAiUpstream.start({ models: ['its/own-name'] });
  rig = await GatewayRig.start({
    models: [await llamaLlm(['chat', 'completions']), upstreamLlm(upstream)],
    launch: 'hosted',
  });
}, 120_000);
afterAll(async () => {
  await rig.close();
  await upstream[Symbol.asyncDispose]();
});

const TEXT = 'a switchyard, größer';
const tokenize = async (fields: object) =>
  (await rig.post('/tokenize', { model: 'llama', ...fields })).json();
const detokenize = (tokens: unknown) => rig.post('/detokenize', { model: 'llama', tokens });

describe('tokens of a model on llama.cpp', () => {
  it('are those that a completion of the text begins with, and become the text again', async () => {
    const {
      tokens,
      count,
      max_model_len: most,
    } = (await tokenize({ prompt: TEXT })) as Record<string, never>;
    const completion = await rig.post('/v1/completions', {
      model: 'llama',
      prompt: TEXT,
      max_tokens: 1,
    });
    const { usage } = (await completion.json()) as { usage: { prompt_tokens: number } };
    expect([count, most]).toEqual([usage.prompt_tokens, 1024]);
    const answer = (await (await detokenize(tokens)).json()) as {
      prompt: string;
      content: string;
    };
    expect([answer.prompt.trim(), answer.content.trim()]).toEqual([TEXT, TEXT]);
  });

  it('are the same under the name of llama.cpp, and others of a chat', async () => {
    expect(await tokenize({ content: TEXT })).toEqual(await tokenize({ prompt: TEXT }));
    const chat = (await tokenize({ messages: [{ role: 'user', content: TEXT }] })) as {
      count: number;
    };
    expect(chat.count).toBeGreaterThan(
      ((await tokenize({ prompt: TEXT })) as { count: number }).count,
    );
  });

  it.each<[string, object, string, string | null]>([
    ['no text', {}, 'missing_required_parameter', 'prompt'],
    ['a text that is none', { prompt: 7 }, 'invalid_value', 'prompt'],
    [
      'tokens without the first',
      { prompt: 'a', add_special_tokens: false },
      'unsupported_parameter',
      'add_special_tokens',
    ],
    ['megabytes', { prompt: 'a'.repeat(1_000_000) }, 'context_length_exceeded', 'prompt'],
    ['an unknown model', { model: 'nope', prompt: 'a' }, 'model_not_found', 'model'],
  ])('refuse %s', async (_what, fields, code, param) => {
    await expectError(rig.post('/tokenize', { model: 'llama', ...fields }), {
      code,
      param,
    });
  });

  it.each([[undefined], ['a'], [[-1]], [[1, 99_999]]])('%j are no tokens', async tokens => {
    await expectError(detokenize(tokens), { status: 400 });
  });
});

it('are asked of the server behind an upstream, beside its /v1', async () => {
  const answer = await rig.post('/tokenize', {
    model: 'gpt-4o-mini',
    prompt: 'hi',
    add_special_tokens: false,
  });
  expect([answer.status, await answer.json()]).toEqual([
    200,
    {
      tokens: [1, 2],
      count: 2,
      asked: { model: 'its/own-name', prompt: 'hi', add_special_tokens: false },
    },
  ]);
});

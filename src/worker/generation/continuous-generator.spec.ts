import { afterEach, describe, expect, it } from '@jest/globals';
import { type TokenUsage } from '@switchyard/engine-api/text-embedder.js';
import {
  type AnswerObject,
  answerOf,
  askItem,
  says,
  textOf,
} from '../../../test/support/answers.js';
import {
  type SimulatedOptions,
  SimulatedTextBackend,
} from '../../../test/support/simulated-text-backend.js';
import { type GenerateItem } from '../engines/text-generator.js';
import { ContinuousGenerator } from './continuous-generator.js';

let engine: ContinuousGenerator;
afterEach(() => engine.close());

async function start(options: SimulatedOptions = {}): Promise<SimulatedTextBackend> {
  const backend = new SimulatedTextBackend(options);
  engine = new ContinuousGenerator({ backend, engine: 'simulated' });
  await engine.load();
  return backend;
}

const ask = (fields: object, changes: Partial<GenerateItem> = {}) =>
  answerOf(engine.generate(askItem(fields, changes)));

const tools = [{ type: 'function', function: { name: 'look', parameters: {} } }];
const counted = ({ promptTokens, completionTokens }: TokenUsage) => ({
  promptTokens,
  completionTokens,
});

/** Text and calls, without ids and the chunks that they came in. */
const saidBy = (objects: readonly AnswerObject[]) => ({
  text: textOf(objects),
  calls: objects
    .flatMap(({ choices }) => choices[0]?.delta?.tool_calls ?? [])
    .map(call => ({ ...call, id: undefined })),
});

describe('the answers of a ContinuousGenerator', () => {
  it('stream as OpenAI does: the role, the text, why it ended, the usage', async () => {
    await start();
    const { objects, done } = await ask(
      says('hey', { stream: true, stream_options: { include_usage: true } }),
    );
    expect(objects.map(({ choices }) => choices[0]?.delta ?? null)).toEqual([
      { role: 'assistant', content: '' },
      { content: 'h' },
      { content: 'e' },
      { content: 'y' },
      {},
      null,
    ]);
    expect(objects.map(({ choices }) => choices[0]?.finish_reason)).toEqual([
      null,
      null,
      null,
      null,
      'stop',
      undefined,
    ]);
    expect(objects[0]).toMatchObject({
      id: 'chatcmpl-r1',
      object: 'chat.completion.chunk',
      usage: null,
    });
    expect(objects.at(-1)).toMatchObject({
      usage: {
        prompt_tokens: 4,
        completion_tokens: 3,
        total_tokens: 7,
        prompt_tokens_details: { cached_tokens: 0 },
      },
    });
    expect(done).toMatchObject({ finishReasons: ['stop'], firstTokenMs: expect.any(Number) });
  });

  it('are one object without `stream`', async () => {
    await start();
    const { objects } = await ask(says('hey'));
    expect(objects).toMatchObject([
      {
        object: 'chat.completion',
        choices: [
          {
            index: 0,
            message: { role: 'assistant', content: 'hey' },
            finish_reason: 'stop',
            logprobs: null,
          },
        ],
        usage: { total_tokens: 7 },
      },
    ]);
  });

  it('end by length at the limit, and at 16 tokens for a completion that names none', async () => {
    await start();
    const chat = await ask(says('hello', { max_completion_tokens: 2 }));
    expect([textOf(chat.objects), chat.done.finishReasons]).toEqual(['he', ['length']]);
    const prompt = 'twenty characters xx';
    const completion = await ask({ prompt, temperature: 0 }, { form: 'completion' });
    expect([textOf(completion.objects), completion.done.finishReasons]).toEqual([
      'twenty character',
      ['length'],
    ]);
    expect(completion.objects[0]).toMatchObject({ id: 'cmpl-r1', object: 'text_completion' });
  });

  const called =
    'see <tool_call>{"name": "a"}</tool_call> <tool_call>{"name": "b"}</tool_call> grü';
  it.each([
    ['text', 'grüße', {}, 'stop'],
    ['a stop string', 'one two three', { stop: 'wo t' }, 'stop'],
    ['a limit in a character', 'grüße', { max_completion_tokens: 3 }, 'length'],
    ['calls of tools', called, { tools }, 'tool_calls'],
    ['one call of a tool', called, { tools, parallel_tool_calls: false }, 'tool_calls'],
  ])(
    'go on from the tokens of any chunk as if they had not been interrupted: %s',
    async (_, said, fields, reason) => {
      await start({ contextTokens: 512 });
      const how = { temperature: 1, seed: 25, stream: true, return_token_ids: true };
      const asked = says(said, { ...how, max_completion_tokens: 120, ...fields });
      const whole = await ask(asked);
      expect(whole.done.finishReasons).toEqual([reason]);
      const tokens: number[] = [];
      for (const [at, { choices }] of whole.objects.entries()) {
        const told = choices[0]?.token_ids;
        if (!told) continue;
        tokens.push(...told);
        const rest = await ask({ ...asked, continue_token_ids: tokens });
        expect(saidBy(rest.objects)).toEqual(saidBy(whole.objects.slice(at + 1)));
        expect(rest.done).toMatchObject({
          finishReasons: [reason],
          usage: counted(whole.done.usage!),
        });
      }
      expect(tokens.length).toBeGreaterThan(1);
    },
  );

  it('that are to go on from what are no tokens are refused', async () => {
    await start();
    for (const tokens of ['x', [1.5], [99_999], Array.from({ length: 257 }, () => 97)])
      await expect(ask(says('x', { continue_token_ids: tokens }))).rejects.toMatchObject({
        code: 'invalid_value',
      });
  });

  it('are `n` choices with seeds of their own, the prompt counted once and computed once', async () => {
    await start({ blockTokens: 4 });
    const { objects, done } = await ask(says('hello world', { n: 3, temperature: 1, seed: 25 }));
    expect([0, 1, 2].map(index => textOf(objects, index))).toEqual([
      'hello worldz',
      'hello worlda',
      'hello worldb',
    ]);
    expect(done.usage).toEqual({ promptTokens: 12, completionTokens: 36, cachedTokens: 0 });
    expect(engine.activity?.prefixHitTokens).toBe(2 * 8);
  });

  it('of more prompts and choices than the device holds are all told, or none is begun', async () => {
    const backend = await start({ rows: 2 });
    const prompt = Array.from({ length: 20 }, (_, at) => `p${at}`);
    const { objects, done } = await ask({ prompt, n: 3, temperature: 0 }, { form: 'completion' });
    expect(
      prompt.flatMap((_, at) => [0, 1, 2].map(choice => textOf(objects, 3 * at + choice))),
    ).toEqual(prompt.flatMap(text => [text, text, text]));
    expect(done.finishReasons).toHaveLength(60);
    const runs = backend.decodeCalls;
    const refusal = { code: 'context_length_exceeded', param: 'prompt' };
    await expect(
      ask({ prompt: [...prompt, 'x'.repeat(300)] }, { form: 'completion' }),
    ).rejects.toMatchObject(refusal);
    expect(backend.decodeCalls).toBe(runs);
  });

  it('are numbered by prompt first for a list of prompts', async () => {
    await start();
    const fields = { prompt: ['ab', 'cd'], n: 2, temperature: 0 };
    const { objects, done } = await ask(fields, { form: 'completion' });
    expect([0, 1, 2, 3].map(index => textOf(objects, index))).toEqual(['ab', 'ab', 'cd', 'cd']);
    expect(done.finishReasons).toEqual(['stop', 'stop', 'stop', 'stop']);
    expect(done.usage?.promptTokens).toBe(6);
  });

  it('stop before a stop string, wherever the tokens of it begin and end', async () => {
    await start();
    const { objects, done } = await ask(
      says('one two three', { stream: true, stop: ['wo t', 'never'] }),
    );
    expect([textOf(objects), done.finishReasons]).toEqual(['one t', ['stop']]);
  });

  it('never cut a character in two', async () => {
    await start();
    const { objects } = await ask(says('für 😀!', { stream: true }));
    const deltas = objects
      .map(({ choices }) => choices[0]?.delta?.content ?? '')
      .filter(text => text !== '');
    expect(deltas).toEqual(['f', 'ü', 'r', ' ', '😀', '!']);
  });

  it('bring log-probabilities in both forms', async () => {
    await start();
    const chat = await ask(says('ab', { logprobs: true, top_logprobs: 2 }));
    expect(chat.objects[0]?.choices[0]?.logprobs).toMatchObject({
      content: [
        {
          token: 'a',
          logprob: -0.5,
          bytes: [97],
          top_logprobs: [{ token: 'a' }, { token: 'b', logprob: -1.5 }],
        },
        { token: 'b' },
      ],
      refusal: null,
    });
    const completion = await ask(
      { prompt: 'ab', temperature: 0, logprobs: 1, stream: true },
      { form: 'completion' },
    );
    const told = completion.objects.map(({ choices }) => choices[0]?.logprobs);
    expect(told).toEqual([
      { tokens: ['a'], token_logprobs: [-0.5], top_logprobs: [{ a: -0.5 }], text_offset: [0] },
      { tokens: ['b'], token_logprobs: [-0.5], top_logprobs: [{ b: -0.5 }], text_offset: [1] },
      null,
    ]);
  });

  it('call tools in the form of their template', async () => {
    await start();
    const said = 'see <tool_call>{"name": "look", "arguments": {"at": 1}}</tool_call>';
    const { objects, done } = await ask(says(said, { tools, stream: true, max_tokens: 100 }));
    expect(textOf(objects)).toBe('see ');
    expect(objects.flatMap(({ choices }) => choices[0]?.delta?.tool_calls ?? [])).toEqual([
      {
        index: 0,
        id: expect.stringMatching(/^call_/),
        type: 'function',
        function: { name: 'look', arguments: '{"at":1}' },
      },
    ]);
    expect(done.finishReasons).toEqual(['tool_calls']);
  });

  it.each([true, false])(
    'tell thoughts apart from what is said, where the template knows them, stream: %s',
    async stream => {
      const said = '<think> Two?</think> Yes.';
      const told = async () => {
        const { objects } = await ask(says(said, { stream, max_tokens: 100 }));
        const all = objects.flatMap(({ choices: [choice] }) => [
          choice?.delta ?? choice?.message,
        ]) as ({ content?: string; reasoning_content?: string } | undefined)[];
        const joined = (name: 'content' | 'reasoning_content') =>
          all.map(one => one?.[name] ?? '').join('');
        return [joined('reasoning_content').trimEnd(), joined('content')];
      };
      await start({ thinks: true });
      const [thought, answer] = await told();
      expect([thought, answer?.startsWith('Yes.')]).toEqual(['Two?', true]);
      await start();
      const [none, whole] = await told();
      expect([none, whole?.startsWith(said)]).toEqual(['', true]);
    },
  );

  it.each([true, false])(
    'call a custom tool with its text, as OpenAI does, stream: %s',
    async stream => {
      await start({ contextTokens: 512 });
      const said = '<tool_call>{"name": "patch", "arguments": {"input": "+a"}}</tool_call>';
      const custom = [{ type: 'custom', custom: { name: 'patch' } }];
      const { objects } = await ask(says(said, { tools: custom, stream, max_tokens: 100 }));
      const [call] = objects.flatMap(({ choices: [choice] }) =>
        [choice?.delta ?? choice?.message].flatMap(told => told?.tool_calls ?? []),
      );
      expect(call).toEqual({
        ...(stream && { index: 0 }),
        id: expect.stringMatching(/^call_/),
        type: 'custom',
        custom: { name: 'patch', input: '+a' },
      });
    },
  );
});

describe('a ContinuousGenerator', () => {
  it('refuses what can never fit, in the words of OpenAI', async () => {
    await start({ contextTokens: 32 });
    await expect(ask(says('x'.repeat(40)))).rejects.toMatchObject({
      code: 'context_length_exceeded',
      param: 'messages',
      message: expect.stringMatching(/maximum context length is 32 tokens.*resulted in 41 tokens/),
    });
    await expect(ask(says('x', { max_tokens: 31 }))).rejects.toMatchObject({
      code: 'context_length_exceeded',
    });
    expect((await ask(says('x', { max_tokens: 30 }))).done.finishReasons).toEqual(['stop']);
  });

  it('advances all in one native run, and reuses what a tenant has computed, but no other', async () => {
    const backend = await start({ rows: 8, blockTokens: 4 });
    const asked = Array.from({ length: 8 }, (_, i) => ask(says(`caller ${i}`)));
    const texts = (await Promise.all(asked)).map(({ objects }) => textOf(objects));
    expect(texts).toEqual(Array.from({ length: 8 }, (_, i) => `caller ${i}`));
    expect(backend.decodeCalls).toBeLessThan(2 * 'caller 0'.length);
    expect(engine.activity?.steps).toBe(backend.decodeCalls);
    expect((await ask(says('caller 0'))).done.usage?.cachedTokens).toBe(8);
    expect((await ask(says('caller 0'), { tenant: 'other' })).done.usage?.cachedTokens).toBe(0);
  });

  it('frees a cancelled sequence within a step, and goes no further for a reader that left', async () => {
    const backend = await start();
    const abort = new AbortController();
    const events = engine.generate(
      askItem(says('ENDLESS', { stream: true }), { signal: abort.signal }),
    );
    await events.next();
    abort.abort();
    const steps = backend.decodeCalls;
    await expect(events.next()).rejects.toMatchObject({ code: 'request_cancelled' });
    expect(backend.decodeCalls - steps).toBeLessThanOrEqual(1);
    for await (const _ of engine.generate(askItem(says('ENDLESS', { stream: true })))) break;
    expect(engine.activity).toMatchObject({ running: 0, waiting: 0, freeBlocks: 64 });
  });

  it('pauses for a slow reader, and only for that one', async () => {
    await start({ contextTokens: 4096, blocks: 512 });
    const slow = engine.generate(askItem(says('ENDLESS', { stream: true, max_tokens: 500 })));
    await slow.next();
    const busy = engine.activity!.steps;
    expect((await ask(says('z'.repeat(300)))).done.finishReasons).toEqual(['stop']);
    expect(engine.activity!.steps - busy).toBeGreaterThan(290);
    expect(engine.activity!.running).toBe(1);
    const rest = await answerOf(slow);
    expect(rest.done.usage?.completionTokens).toBe(500);
  });
});

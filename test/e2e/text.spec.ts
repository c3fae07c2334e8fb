import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import OpenAI from 'openai';
import { llamaLlm } from '../integration/generation/generation-rig.js';
import { openaiAt } from '../support/openai-at.js';
import { processTree } from '../support/process-tree.js';
import { Product } from '../support/product.js';

const model = 'llama';
const messages = [{ role: 'user' as const, content: 'what does a switchyard do?' }];
/** No end of the answer: it goes on until its limit, or until somebody stops it. */
const endless = (max_tokens: number) => ({
  grammar: 'root ::= [a-z ] root',
  max_tokens,
});
describe('llama.cpp behind the built product', () => {
  let product: Product;
  let openai: OpenAI;

  beforeAll(async () => {
    product = await Product.start([await llamaLlm(['chat', 'completions', 'tools', 'logprobs'])]);
    openai = openaiAt(product.url, { timeout: 60_000 });
    await product.allReady();
  }, 120_000);
  afterAll(async () => product[Symbol.asyncDispose]());

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

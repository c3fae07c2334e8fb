import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { DialectRig } from '../../integration/generation/dialect-rig.js';
import { ResponseClient, eventsIn } from '../../support/response-client.js';

const USAGE = { prompt_tokens: 3, completion_tokens: 0, total_tokens: 3 };
const ASKED = [{ role: 'user', content: 'Say nothing.' }];

let dialect: DialectRig;
beforeAll(async () => void (dialect = await DialectRig.native(['chat'])), 150_000);
afterAll(() => dialect[Symbol.asyncDispose]());

/** The answer of a model that says nothing. */
async function silent(path: string, fields: object, stream: boolean): Promise<Response> {
  const head = { id: 'up-1', created: 1, model: 'm', usage: USAGE };
  const choice = { index: 0, finish_reason: 'stop' };
  if (stream)
    dialect.script(
      `data: ${JSON.stringify({ ...head, choices: [{ ...choice, delta: { role: 'assistant' } }] })}\n\n`,
    );
  else
    dialect.upstream.script({
      kind: 'body',
      type: 'application/json',
      body: JSON.stringify({
        ...head,
        choices: [{ ...choice, message: { role: 'assistant', content: '' } }],
      }),
    });
  const answer = await dialect.rig.post(path, { model: 'upstream-llm', stream, ...fields });
  expect(answer.status).toBe(200);
  return answer;
}

const linesOf = async (answer: Response) =>
  (await answer.text())
    .split('\n')
    .map(line => line.replace(/^data: /, ''))
    .filter(line => line.startsWith('{'))
    .map(line => JSON.parse(line) as Record<string, unknown>);

describe('a model that says nothing', () => {
  it('answers responses with a message of an empty text, whole, streamed and stored', async () => {
    const message = {
      ...{ type: 'message', role: 'assistant', status: 'completed' },
      content: [{ type: 'output_text', text: '' }],
    };
    const whole = await silent('/v1/responses', { input: ASKED }, false);
    const { id, output } = (await whole.json()) as { id: string; output: unknown };
    expect(output).toMatchObject([message]);
    const found = await new ResponseClient(dialect.rig.url).found(id);
    expect(found.output).toEqual(output);
    const events = eventsIn(await silent('/v1/responses', { input: ASKED }, true));
    expect((await Array.fromAsync(events)).at(-1)).toMatchObject({
      type: 'response.completed',
      response: { output: [message] },
    });
  });

  it('answers chats and Ollama’s with an empty text, and messages without a block, as Anthropic does', async () => {
    const chat = await silent('/v1/chat/completions', { messages: ASKED }, false);
    expect(await chat.json()).toMatchObject({
      choices: [{ message: { content: '' }, finish_reason: 'stop' }],
    });
    const fields = { messages: ASKED, max_tokens: 9 };
    const message = await silent('/v1/messages', fields, false);
    expect(await message.json()).toMatchObject({ content: [], stop_reason: 'end_turn' });
    const events = await linesOf(await silent('/v1/messages', fields, true));
    expect(events.map(({ type }) => type)).toEqual([
      ...['message_start', 'ping', 'message_delta', 'message_stop'],
    ]);
    const ollama = { message: { role: 'assistant', content: '' }, done: true };
    for (const stream of [false, true])
      expect(
        (await linesOf(await silent('/api/chat', { messages: ASKED }, stream))).at(-1),
      ).toMatchObject(ollama);
  });
});

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { DialectRig } from '../../integration/generation/dialect-rig.js';
import { JSON_NUMBER } from '../../support/json-number.js';

/** Numbers that JavaScript would write differently, and one that it would not. */
const DIGITS = ['1234567890123456789', '-9007199254740993', '1.0', '1e400', '0.10', '7'];

let dialect: DialectRig;
beforeAll(async () => void (dialect = await DialectRig.start()), 150_000);
afterAll(() => dialect[Symbol.asyncDispose]());

const post = async (path: string, json: string) => {
  const response = await fetch(`${dialect.rig.url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: json,
  });
  const text = await response.text();
  expect([response.status, text]).toEqual([200, expect.any(String)]);
  return text;
};

const sent = () => dialect.upstream.posts.at(-1)!.body.toString();

const argumentsOf = (digits: string) => `{"ids":[1,${digits}],"one":${digits}}`;
const quoted = (json: string) => JSON.stringify(json);

/** A call of `f` with these arguments, as a server says it. */
const scripted = (args: string, stream: boolean) => {
  const call = {
    index: 0,
    id: 'call_1',
    type: 'function',
    function: { name: 'f', arguments: args },
  };
  const choice = { index: 0, finish_reason: 'tool_calls' };
  if (stream)
    dialect.script(
      `data: ${JSON.stringify({ choices: [{ ...choice, delta: { tool_calls: [call] } }] })}\n\n`,
    );
  else
    dialect.upstream.script({
      kind: 'body',
      type: 'application/json',
      body: JSON.stringify({ choices: [{ ...choice, message: { tool_calls: [call] } }] }),
    });
};

const schemaOf = (digits: string) =>
  `{"type":"object","properties":{"id":{"enum":[1,${digits}]},"k":{"const":${digits}}}}`;

interface Asked {
  readonly path: string;
  /** A body with a call of `f` in its history and a tool with a schema. */
  body(args: string, schema: string, stream: boolean): string;
  /** The arguments as an answer, or the events of a stream, say them. */
  told(args: string, stream: boolean): string;
}

const DIALECTS: Readonly<Record<string, Asked>> = {
  chat: {
    path: '/v1/chat/completions',
    body: (args, schema, stream) =>
      `{"model":"upstream-llm","stream":${stream},"messages":[{"role":"user","content":"x"},` +
      `{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":` +
      `{"name":"f","arguments":${quoted(args)}}}]},{"role":"tool","tool_call_id":"c","content":"y"}],` +
      `"tools":[{"type":"function","function":{"name":"f","parameters":${schema}}}]}`,
    told: args => `"arguments":${quoted(args)}`,
  },
  responses: {
    path: '/v1/responses',
    body: (args, schema, stream) =>
      `{"model":"upstream-llm","stream":${stream},"input":[{"role":"user","content":"x"},` +
      `{"type":"function_call","call_id":"c","name":"f","arguments":${quoted(args)}},` +
      `{"type":"function_call_output","call_id":"c","output":"y"}],` +
      `"tools":[{"type":"function","name":"f","parameters":${schema}}]}`,
    told: args => `"arguments":${quoted(args)}`,
  },
  messages: {
    path: '/v1/messages',
    body: (args, schema, stream) =>
      `{"model":"upstream-llm","stream":${stream},"max_tokens":99,"messages":[{"role":"user","content":"x"},` +
      `{"role":"assistant","content":[{"type":"tool_use","id":"c","name":"f","input":${args}}]},` +
      `{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":"y"}]}],` +
      `"tools":[{"name":"f","input_schema":${schema}}]}`,
    told: (args, stream) => (stream ? `"partial_json":${quoted(args)}` : `"input":${args}`),
  },
  ollama: {
    path: '/api/chat',
    body: (args, schema, stream) =>
      `{"model":"upstream-llm","stream":${stream},"messages":[{"role":"user","content":"x"},` +
      `{"role":"assistant","content":"","tool_calls":[{"function":{"name":"f","arguments":${args}}}]},` +
      `{"role":"tool","tool_name":"f","content":"y"}],` +
      `"tools":[{"type":"function","function":{"name":"f","parameters":${schema}}}]}`,
    told: args => `"arguments":${args}`,
  },
};

describe.each(Object.entries(DIALECTS))('numbers in %s', (_, { path, body, told }) => {
  const demand = async (digits: string, stream: boolean) => {
    const args = argumentsOf(digits);
    scripted(args, stream);
    const answer = await post(path, body(args, schemaOf(digits), stream));
    expect(sent()).toContain(quoted(args).slice(1, -1));
    expect(sent()).toContain(`"enum":[1,${digits}]`);
    expect(sent()).toContain(`"const":${digits}`);
    expect(answer).toContain(told(args, stream));
  };

  it.each(DIGITS)('%s is the same in a call of the history, a schema and an answer', digits =>
    demand(digits, false).then(() => demand(digits, true)),
  );

  it('are the same, whatever they are', () =>
    fc.assert(fc.asyncProperty(JSON_NUMBER, fc.boolean(), demand), { numRuns: 15 }));
});

describe('a model that runs here', () => {
  it('is held to the digits of a schema, and its call has them, whole and as a stream', async () => {
    const parameters = `{"type":"object","properties":{"id":{"enum":[1234567890123456789]}},"required":["id"]}`;
    const tools = `[{"type":"function","function":{"name":"f","parameters":${parameters}}}]`;
    for (const stream of [false, true]) {
      const answer = await post(
        '/v1/chat/completions',
        `{"model":"llama","stream":${stream},"messages":[{"role":"user","content":"x"}],` +
          `"tools":${tools},"tool_choice":"required","parallel_tool_calls":false}`,
      );
      const joined = [...answer.matchAll(/"arguments":"((?:[^"\\]|\\.)*)"/g)]
        .map(([, piece]) => JSON.parse(`"${piece}"`) as string)
        .join('');
      expect(joined.replaceAll(/\s/g, '')).toBe('{"id":1234567890123456789}');
    }
  });

  it.each(['1e400', '123456789012345678901234567890'])(
    'reads %s in an old call, turn after turn',
    async digits => {
      const args = quoted(`{"x":${digits}}`);
      await post(
        '/v1/chat/completions',
        `{"model":"llama","max_tokens":2,"messages":[{"role":"user","content":"x"},` +
          `{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function",` +
          `"function":{"name":"f","arguments":${args}}}]},` +
          `{"role":"tool","tool_call_id":"c","content":"y"}]}`,
      );
    },
  );
});

import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { on, once } from 'node:events';
import { WebSocket } from 'ws';
import {
  type MessageItem,
  type OutputPart,
  type ResponseItem,
} from '../../src/contracts/openai/response-items.js';
import {
  FINAL_EVENTS,
  type ResponseEvent,
  type ResponseObject,
} from '../../src/contracts/openai/responses.js';
import {
  compacted,
  made,
  type OpenResponsesTarget,
  QUESTION,
  refused,
  streamed,
} from './open-responses-client.js';
import { faultsOfEvents } from './response-schema.js';

export interface OpenResponsesCase {
  /** Of the public specification, in short. */
  readonly rule: string;
  readonly run: (target: OpenResponsesTarget) => Promise<void>;
}

const properties = { celsius: { type: 'boolean' } };
const parameters = {
  type: 'object',
  properties,
  required: ['celsius'],
  additionalProperties: false,
};
const weather = {
  type: 'function',
  name: 'weather',
  description: 'The weather.',
  parameters,
};
const clock = { type: 'function', name: 'clock', parameters };
const called = {
  tools: [weather, clock],
  tool_choice: 'required',
  parallel_tool_calls: false,
  temperature: 0,
};
const formatOf = (schema: object): object => ({
  format: { type: 'json_schema', name: 'answer', schema },
});

const calling = (target: OpenResponsesTarget, fields: object): Promise<ResponseObject> =>
  made(target, { model: target.tools, max_output_tokens: 200, ...called, ...fields });

const typesOf = (events: readonly ResponseEvent[]): string[] =>
  events.map(({ type }) => type.replace('response.', ''));
const callsIn = ({ output }: ResponseObject) =>
  output.filter(item => item.type === 'function_call');
const partOf = (item?: ResponseItem) =>
  (item as MessageItem).content[0] as Extract<OutputPart, { type: 'output_text' }>;
const message = (role: string, content: unknown): object => ({
  type: 'message',
  role,
  content,
});

/**
 * What the public specification demands, as far as text and functions go. Each was
 * written for this project.
 */
export const OPEN_RESPONSES_CASES: readonly OpenResponsesCase[] = [
  {
    rule: 'A text as input is a message of the user; the answer is a `response` with an `output` of items',
    run: async target => {
      const { status, output } = await made(target, {});
      equal(status, 'completed');
      deepEqual(
        output.map(({ type }) => type),
        ['message'],
      );
    },
  },
  {
    rule: 'Messages of user, system, developer and assistant are input, with texts and with parts as content',
    run: async target => {
      const parts = [{ type: 'input_text', text: QUESTION }];
      const answered = [{ type: 'output_text', text: 'It sorts.' }];
      const input = [
        message('system', 'Be brief.'),
        message('developer', parts),
        message('user', QUESTION),
        message('assistant', answered),
        message('user', parts),
      ];
      equal((await made(target, { input })).status, 'completed');
      equal(
        (await made(target, { model: target.tools, input, max_output_tokens: 16 })).object,
        'response',
      );
    },
  },
  {
    rule: 'Nullable fields may be null',
    run: async target => {
      const names = [
        'previous_response_id',
        'tools',
        'tool_choice',
        'metadata',
        'text',
        'temperature',
        'top_p',
      ];
      names.push(
        'presence_penalty',
        'frequency_penalty',
        'parallel_tool_calls',
        'stream_options',
        'instructions',
      );
      names.push(
        'max_output_tokens',
        'max_tool_calls',
        'reasoning',
        'safety_identifier',
        'prompt_cache_key',
      );
      names.push('top_logprobs');
      equal(
        (await made(target, Object.fromEntries(names.map(name => [name, null])))).status,
        'completed',
      );
    },
  },
  {
    rule: 'A stream is `text/event-stream`; `event` is the `type` of the data, there is no `id`, `[DONE]` is last',
    run: async target => {
      const { frames, events, last } = await streamed(target, {});
      equal(last, '[DONE]');
      deepEqual(
        frames.slice(0, -1).map(frame => /^event: (.*)$/m.exec(frame)?.[1]),
        events.map(({ type }) => type),
      );
      ok(!frames.some(frame => /^id:/m.test(frame)));
    },
  },
  {
    rule: 'Events are state changes of the response around changes of its items, numbered without gaps',
    run: async target => {
      const { events, response } = await streamed(target, {});
      const types = typesOf(events);
      deepEqual(types.slice(0, 2), ['created', 'in_progress']);
      deepEqual([types.at(-1), response.status], ['completed', 'completed']);
      deepEqual(
        events.map(event => event.sequence_number),
        events.map((_, at) => at),
      );
    },
  },
  {
    rule: 'A message is `output_item.added`, `content_part.added`, deltas, `done` of text, part and item',
    run: async target => {
      const { events, response } = await streamed(target, {});
      const inItem = events.slice(2, -1);
      const begin = ['output_item.added', 'content_part.added', 'output_text.delta'];
      deepEqual(
        [...new Set(typesOf(inItem))],
        [...begin, 'output_text.done', 'content_part.done', 'output_item.done'],
      );
      const [added] = inItem as [ResponseEvent & { item: ResponseItem }];
      deepEqual(
        [added.item.status, 'role' in added.item && added.item.role],
        ['in_progress', 'assistant'],
      );
      const deltas = inItem
        .map(event => (event.type === 'response.output_text.delta' ? event.delta : ''))
        .join('');
      const done = inItem.at(-1) as ResponseEvent & { item: ResponseItem };
      deepEqual(done.item, response.output[0]);
      deepEqual((done.item as { content: unknown }).content, [
        { type: 'output_text', text: deltas, annotations: [], logprobs: [] },
      ]);
      const ids = new Set(inItem.map(event => ('item_id' in event ? event.item_id : done.item.id)));
      deepEqual([...ids], [done.item.id]);
    },
  },
  {
    rule: 'A call is `output_item.added`, `function_call_arguments.delta` and `.done`, then `output_item.done`',
    run: async target => {
      const fields = { model: target.tools, max_output_tokens: 200, ...called };
      const { events, response } = await streamed(target, fields);
      const types = [
        'output_item.added',
        'function_call_arguments.delta',
        'function_call_arguments.done',
      ];
      deepEqual([...new Set(typesOf(events.slice(2, -1)))], [...types, 'output_item.done']);
      const added = events[2] as ResponseEvent & { item: ResponseItem };
      const [call] = callsIn(response);
      deepEqual('name' in added.item && [added.item.name, added.item.id], [call!.name, call!.id]);
    },
  },
  {
    rule: 'An item that the budget of tokens ends is `incomplete`, the last one, and so is the response',
    run: async target => {
      const text = formatOf({ const: 'far more letters than the budget has tokens' });
      const {
        output,
        status,
        incomplete_details: why,
      } = await made(target, {
        ...{ model: target.tools, text, max_output_tokens: 16 },
      });
      deepEqual(
        [status, why, output.at(-1)?.status],
        ['incomplete', { reason: 'max_output_tokens' }, 'incomplete'],
      );
    },
  },
  {
    rule: 'Every item has `id`, `type` and `status`; ids are unique',
    run: async target => {
      const { output } = await calling(target, { parallel_tool_calls: true });
      ok(output.every(({ id, type, status }) => id && type && status));
      equal(new Set(output.map(({ id }) => id)).size, output.length);
    },
  },
  {
    rule: '`tool_choice: required` brings a call with `call_id`, `name` and JSON `arguments`',
    run: async target => {
      const [call] = callsIn(await calling(target, {}));
      deepEqual(Object.keys(JSON.parse(call!.arguments) as object), ['celsius']);
      ok(call!.call_id.length > 0 && ['weather', 'clock'].includes(call!.name));
    },
  },
  {
    rule: 'A named function is called',
    run: async target => {
      const answer = await calling(target, {
        tool_choice: { type: 'function', name: 'clock' },
      });
      deepEqual(
        callsIn(answer).map(({ name }) => name),
        ['clock'],
      );
    },
  },
  {
    rule: '`tool_choice: none` calls nothing',
    run: async target =>
      deepEqual(callsIn(await calling(target, { tool_choice: 'none', max_output_tokens: 16 })), []),
  },
  {
    rule: '`allowed_tools` bounds the calls, in the modes auto, required and none',
    run: async target => {
      const allowed = {
        type: 'allowed_tools',
        tools: [{ type: 'function', name: 'clock' }],
      };
      const forced = await calling(target, {
        tool_choice: { ...allowed, mode: 'required' },
      });
      deepEqual(
        callsIn(forced).map(({ name }) => name),
        ['clock'],
      );
      deepEqual(
        forced.tools.map(({ name }) => name),
        ['weather', 'clock'],
      );
      for (const mode of [undefined, 'auto', 'none']) {
        const answer = await calling(target, {
          tool_choice: { ...allowed, mode },
          max_output_tokens: 16,
        });
        ok(callsIn(answer).every(({ name }) => mode !== 'none' && name === 'clock'));
      }
    },
  },
  {
    rule: '`parallel_tool_calls: false` brings one call at most',
    run: async target => equal(callsIn(await calling(target, {})).length, 1),
  },
  {
    rule: 'A `function_call_output` answers the call with its `call_id`, in the input or after `previous_response_id`',
    run: async target => {
      const first = await calling(target, {});
      const [call] = callsIn(first);
      const output = {
        type: 'function_call_output',
        call_id: call!.call_id,
        output: '21 degrees',
      };
      const next = { model: target.tools, max_output_tokens: 16, tools: called.tools };
      const stored = await made(target, {
        ...next,
        input: [output],
        previous_response_id: first.id,
      });
      const whole = await made(target, {
        ...next,
        input: [message('user', QUESTION), call, output],
      });
      equal(stored.usage!.input_tokens, whole.usage!.input_tokens);
      const orphan = {
        type: 'function_call_output',
        call_id: 'call_of_none',
        output: '',
      };
      equal((await refused(target, 400, { input: [orphan] })).param, 'input');
    },
  },
  {
    rule: '`previous_response_id` puts its input and output, in this order, before the input',
    run: async target => {
      const first = await made(target, { model: target.tools, max_output_tokens: 16 });
      const next = { model: target.tools, max_output_tokens: 16 };
      const stored = await made(target, { ...next, previous_response_id: first.id });
      const input = [message('user', QUESTION), ...first.output, message('user', QUESTION)];
      equal(
        stored.usage!.input_tokens,
        (await made(target, { ...next, input })).usage!.input_tokens,
      );
      equal(stored.previous_response_id, first.id);
      equal(
        (await refused(target, 404, { previous_response_id: 'resp_of_none' })).param,
        'previous_response_id',
      );
    },
  },
  {
    rule: 'Items go back as input: messages, calls, `reasoning`, and an `item_reference` to a stored item',
    run: async target => {
      const { output } = await made(target, {});
      const thought = {
        type: 'reasoning',
        summary: [{ type: 'summary_text', text: 'It is about trains.' }],
      };
      const reference = { type: 'item_reference', id: output[0]!.id };
      const input = [
        message('user', QUESTION),
        thought,
        ...output,
        reference,
        message('user', QUESTION),
      ];
      equal((await made(target, { input })).status, 'completed');
    },
  },
  {
    rule: '`text.format` holds the answer to a JSON schema',
    run: async target => {
      const { output } = await made(target, {
        model: target.tools,
        text: formatOf(parameters),
        temperature: 0,
      });
      const { text } = partOf(output[0]);
      equal(typeof (JSON.parse(text) as { celsius: unknown }).celsius, 'boolean');
    },
  },
  {
    rule: '`include: message.output_text.logprobs` brings them, with `top_logprobs` alternatives',
    run: async target => {
      const text = formatOf({ const: 'on' });
      const include = ['message.output_text.logprobs'];
      const { output } = await made(target, {
        model: target.tools,
        text,
        include,
        top_logprobs: 2,
      });
      const { logprobs } = partOf(output[0]);
      ok(
        logprobs.length > 0 &&
          logprobs.every(token => (token as { top_logprobs: unknown[] }).top_logprobs.length === 2),
      );
    },
  },
  {
    rule: 'What was asked for is repeated: instructions, metadata, limits, tools, choice, sampling, tier',
    run: async target => {
      const asked = {
        ...{
          instructions: 'Be brief.',
          metadata: { a: 'b' },
          max_output_tokens: 100,
          max_tool_calls: 3,
          top_p: 0.5,
        },
        ...{
          temperature: 0.5,
          presence_penalty: 1,
          frequency_penalty: -1,
          truncation: 'disabled',
          store: false,
        },
        ...{
          safety_identifier: 's',
          prompt_cache_key: 'k',
          service_tier: 'default',
          parallel_tool_calls: false,
        },
      };
      const answer = await made(target, asked);
      deepEqual(
        Object.fromEntries(
          Object.keys(asked).map(name => [name, answer[name as keyof ResponseObject]]),
        ),
        asked,
      );
    },
  },
  {
    rule: '`background: true` is `queued`, then worked on',
    run: async target => {
      const { id, status } = await made(target, { background: true });
      equal(status, 'queued');
      const answer = await fetch(`${target.url}/v1/responses/${id}?stream=true`);
      match(await answer.text(), /event: response.completed\n/);
    },
  },
  {
    rule: '`truncation: disabled` fails an input that is too long',
    run: async target => {
      const long = {
        model: target.tools,
        input: 'x '.repeat(5000),
        truncation: 'disabled',
      };
      equal((await refused(target, 400, long)).code, 'context_length_exceeded');
    },
  },
  {
    rule: 'Errors have `type`, `code`, `param` and `message`, with the status of their kind',
    run: async target => {
      const unknown = await refused(target, 404, { model: 'no-such-model' });
      deepEqual([unknown.code, unknown.param], ['model_not_found', 'model']);
      equal((await refused(target, 400, '{')).type, 'invalid_request_error');
      const hosted = await refused(target, 400, {
        tools: [weather],
        tool_choice: { type: 'web_search' },
      });
      equal(hosted.param, 'tool_choice.type');
    },
  },
  {
    rule: 'Bounds: 16 tokens at least, 20 `top_logprobs`, 16 labels, 64 characters of identifiers, names of functions',
    run: async target => {
      const labels = Object.fromEntries(Array.from({ length: 17 }, (_, at) => [`k${at}`, 'v']));
      const wrong = {
        max_output_tokens: 15,
        top_logprobs: 21,
        metadata: labels,
        safety_identifier: 'x'.repeat(65),
      };
      for (const [name, value] of Object.entries({
        ...wrong,
        prompt_cache_key: 'x'.repeat(65),
        temperature: 2.5,
      }))
        match((await refused(target, 400, { [name]: value })).param ?? '', new RegExp(`^${name}`));
      for (const name of ['', 'a b', 'x'.repeat(129)])
        equal(
          (await refused(target, 400, { tools: [{ ...weather, name }] })).param,
          'tools[0].name',
        );
      equal(
        (
          await refused(target, 400, {
            tool_choice: { type: 'allowed_tools', tools: [] },
          })
        ).type.length > 0,
        true,
      );
    },
  },
  {
    rule: 'Compaction: messages but for those of the model, and an item `compaction`, which is input again',
    run: async target => {
      const brief = { model: target.tools, max_output_tokens: 16 };
      const input = [
        message('user', QUESTION),
        message('assistant', [{ type: 'output_text', text: 'It sorts.' }]),
        message('user', 'And then?'),
      ];
      const { output, usage } = await compacted(target, { model: target.tools, input });
      deepEqual(
        output.map(item => [item.type, 'role' in item ? item.role : null]),
        [
          ['message', 'user'],
          ['message', 'user'],
          ['compaction', null],
        ],
      );
      // A model may write no summary.
      ok(usage!.input_tokens > 0 && usage!.output_tokens >= 0);
      const asked = [...output, message('user', 'Go on.')];
      const again = await made(target, { ...brief, input: asked });
      ok(again.usage!.input_tokens > usage!.output_tokens);
    },
  },
  {
    rule: 'WebSocket: `response.create` is answered by the events of the stream; the next one continues it without a store',
    run: async target => {
      const brief = { model: target.tools, max_output_tokens: 16 };
      const socket = new WebSocket(`${target.url.replace('http', 'ws')}/v1/responses`);
      const messages = on(socket, 'message');
      const said = async (fields: object): Promise<ResponseObject> => {
        const create = { type: 'response.create', ...brief, store: false };
        socket.send(JSON.stringify({ ...create, ...fields }));
        const events: ResponseEvent[] = [];
        while (!FINAL_EVENTS.has(events.at(-1)?.type ?? '')) {
          const { value } = (await messages.next()) as { value: [Buffer] };
          events.push(JSON.parse(value[0].toString()) as ResponseEvent);
        }
        deepEqual(faultsOfEvents(events), []);
        return (events.at(-1) as { response: ResponseObject }).response;
      };
      await once(socket, 'open');
      const first = await said({ input: QUESTION });
      const second = await said({ input: 'Why?', previous_response_id: first.id });
      equal(second.previous_response_id, first.id);
      ok(second.usage!.input_tokens > first.usage!.input_tokens);
      socket.close();
    },
  },
];

/** What the specification has and this server does not, and why. */
export const OPEN_RESPONSES_OTHERS: readonly (readonly [rule: string, result: string])[] = [
  [
    '`input_image`',
    'not applicable: passed to models behind other servers; local models read text',
  ],
  [
    '`input_file`, `input_video` (MAY)',
    'not applicable: no model here reads them; refused by name',
  ],
  [
    '`conversation` (MAY)',
    'not applicable: conversations are chains of `previous_response_id`; refused by name',
  ],
  ['Hosted tools: file search, web search, MCP', 'not applicable: functions only; refused by name'],
  ['Items and events of providers have a prefix', 'not applicable: none are added'],
  [
    '`encrypted_content`, summaries of reasoning (MAY)',
    'not applicable: reasoning is plain text in `content`',
  ],
  ['`truncation: auto` (MAY)', 'not applicable: nothing is dropped; reported as ignored'],
  [
    'Events `response.reasoning.delta` and `.done`',
    'differs: `response.reasoning_text.*`, as the official SDKs know them (models behind other servers only)',
  ],
  [
    '`text.format.schema` of a response is null',
    'differs: the schema is repeated, as OpenAI and its SDKs have it',
  ],
  [
    '`allowed_tools`: all tools stay in the context',
    'differs: the model sees the allowed ones only, so that it cannot call another',
  ],
];

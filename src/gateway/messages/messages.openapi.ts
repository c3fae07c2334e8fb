import { sseEvent } from '../../contracts/formats/server-sent-event.js';
import { CreateMessageRequest, MessageInputRequest } from '../../contracts/messages/message.dto.js';
import { describesText, jsonExample } from '../text/completions.openapi.js';
import { MessageWriter } from './message-writer.js';

const EVENTS = {
  type: 'string',
  description:
    'With `stream: true`: `event: …` and `data: {…}` of `message_start`, the blocks with their deltas, `message_delta` ' +
    'with the usage, `message_stop`. A failure after the first event is an event `error`.',
};

const question = [{ role: 'user', content: 'What does a switchyard do?' }];

const input = { model: 'gpt-4o-mini', messages: question };

const SAID = new MessageWriter('1', 'qwen3-8b');
SAID.take({ type: 'text', text: 'It sorts.' });
SAID.take({ type: 'finish', reason: 'stop' });

const exampleOf = (value: object) => ({ usual: { summary: 'A question', value } });

/** OpenAPI of the route of messages. */
export const DescribesMessages = (): MethodDecorator =>
  describesText({
    body: CreateMessageRequest,
    description:
      'Another dialect of chat, as `@anthropic-ai/sdk` and Claude Code speak it. `x-api-key` is a key of this ' +
      'gateway; versions and beta headers are ignored. Errors have the envelope of that dialect.',
    examples: exampleOf({ ...input, max_tokens: 64 }),
    content: {
      ...jsonExample(SAID.whole()),
      'text/event-stream': {
        schema: EVENTS,
        example: sseEvent('message_stop', { type: 'message_stop' }),
      },
    },
  });

export const DescribesCountTokens = (): MethodDecorator =>
  describesText({
    body: MessageInputRequest,
    description: 'Counted by the model, which draws one token for it.',
    examples: exampleOf(input),
    content: jsonExample({ input_tokens: 14 }),
  });

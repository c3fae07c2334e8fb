import { applyDecorators, HttpCode, type Type } from '@nestjs/common';
import { ApiBody, ApiConsumes, ApiOkResponse, ApiOperation } from '@nestjs/swagger';
import { sseEvent } from '../../contracts/formats/server-sent-event.js';
import {
  CreateMessageRequest,
  MessageInputRequest,
} from '../../contracts/messages/message.dto.js';
import { DescribesErrors, FIELD_ERRORS, QUEUE_ERRORS } from '../http/openapi/errors.js';
import { DescribesRequestHeaders } from '../http/openapi/route.decorator.js';
import { MessageWriter } from './message-writer.js';

const EVENTS = {
  type: 'string',
  description:
    'With `stream: true`: `event: …` and `data: {…}` of `message_start`, the blocks with their deltas, `message_delta` ' +
    'with the usage, `message_stop`. A failure after the first event is an event `error`.',
};

const question = [{ role: 'user', content: 'What does a switchyard do?' }];
const input = { model: 'gpt-4o-mini', messages: question };
const SAID = new MessageWriter('msg_1', 'qwen3-8b');
SAID.take({ type: 'text', text: 'It sorts.' });
SAID.take({ type: 'finish', reason: 'stop' });

/** OpenAPI of the route of messages. */
export const DescribesMessages = (): MethodDecorator =>
  describes(
    CreateMessageRequest,
    'Another dialect of chat, as `@anthropic-ai/sdk` and Claude Code speak it. `x-api-key` is a key of this ' +
      'gateway; versions and beta headers are ignored. Errors have the envelope of that dialect.',
    { ...input, max_tokens: 64 },
    {
      'application/json': { schema: { type: 'object' }, example: SAID.message },
      'text/event-stream': {
        schema: EVENTS,
        example: sseEvent('message_stop', { type: 'message_stop' }),
      },
    },
  );

export const DescribesCountTokens = (): MethodDecorator =>
  describes(
    MessageInputRequest,
    'Counted by the model, which draws one token for it.',
    input,
    { 'application/json': { schema: { type: 'object' }, example: { input_tokens: 14 } } },
  );

const describes = (
  body: Type,
  description: string,
  value: object,
  content: Readonly<Record<string, { schema: object; example: unknown }>>,
): MethodDecorator =>
  applyDecorators(
    HttpCode(200),
    ApiOperation({ description }),
    ApiConsumes('application/json'),
    ApiBody({ type: body, examples: { usual: { summary: 'A question', value } } }),
    DescribesRequestHeaders(),
    ApiOkResponse({ description: 'The answer, in the form asked for.', content }),
    DescribesErrors('invalid_json', 'unsupported_task', ...FIELD_ERRORS, ...QUEUE_ERRORS),
  );

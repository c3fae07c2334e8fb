import { missingField, readObject, wrongField } from '@switchyard/engine-api/field-problems.js';
import { type Fields, isObject } from '@switchyard/engine-api/is-object.js';
import {
  ANY_TEXT,
  defaulted,
  OBJECT,
  objectsUpTo,
  oneOf,
  textUpTo,
} from '@switchyard/engine-api/rules.js';
import { z } from 'zod';
import { argumentsOf } from '../../contracts/openai/read-tools.js';

const ROLES = ['system', 'developer', 'user', 'assistant', 'tool'] as const;
const MOST_MESSAGES = 100_000;
const MOST_CALLS = 1000;
const NAME = textUpTo(128);

export const CHAT_MESSAGES = defaulted(objectsUpTo(MOST_MESSAGES, OBJECT), []);

const MESSAGE = z.looseObject({
  role: oneOf(ROLES),
  content: z.unknown().optional(),
  tool_calls: defaulted(objectsUpTo(MOST_CALLS, OBJECT), []),
});
const CUSTOM_CALL = z.looseObject({
  custom: z.object({ name: NAME, input: ANY_TEXT }, 'must be an object'),
});
/** The part of a call that chat templates use. */
const FUNCTION_CALL = z.object({
  function: z.object(
    {
      name: NAME,
      arguments: z.custom<string | object>(
        value => typeof value === 'string' || isObject(value),
        'must be JSON in a string, or an object',
      ),
    },
    'must be an object',
  ),
});
const TEXT_PART = z.object({ text: ANY_TEXT });
const REFUSAL_PART = z.object({ refusal: defaulted(ANY_TEXT, '') });

/**
 * The messages of a chat as templates know them: contents are texts, lists of text parts
 * are joined, and `developer` is the `system` that it replaced. What a template cannot
 * show, such as an image, is refused.
 */
export function chatMessages(messages: readonly Fields[]): readonly Fields[] {
  if (messages.length === 0) throw missingField('messages');
  return messages.map((message, index) => chatMessage(message, `messages[${index}]`));
}

function chatMessage(raw: Fields, path: string): Fields {
  const message = readObject(MESSAGE, raw, path);
  const { role, tool_calls: calls } = message;
  const content = contentOf(message.content ?? undefined, `${path}.content`);
  const called = calls.map((call, at) => callIn(call, `${path}.tool_calls[${at}]`));
  if (content === undefined && !(role === 'assistant' && calls.length > 0))
    throw missingField(`${path}.content`);
  return {
    ...raw,
    role: role === 'developer' ? 'system' : role,
    content: content ?? '',
    ...(called.length > 0 && { tool_calls: called }),
  };
}

/** A call in the form that templates know: as a function call, also for custom tools. */
function callIn(call: Fields, path: string): Fields {
  if (call.type !== 'custom') {
    readObject(FUNCTION_CALL, call, path);
    return call;
  }
  const { custom, ...rest } = readObject(CUSTOM_CALL, call, path);
  const { name, input } = custom;
  return {
    ...rest,
    type: 'function',
    function: { name, arguments: argumentsOf(input) },
  };
}

function contentOf(content: unknown, path: string): string | undefined {
  if (content === undefined || typeof content === 'string') return content;
  if (!Array.isArray(content)) throw wrongField(path, content, 'must be a text or a list of parts');
  return content.map((part, index) => textOf(part, `${path}[${index}]`)).join('');
}

function textOf(part: unknown, path: string): string {
  const { type } = readObject(OBJECT, part, path);
  if (type === 'refusal') return readObject(REFUSAL_PART, part, path).refusal;
  if (type === 'text') return readObject(TEXT_PART, part, path).text;
  throw wrongField(`${path}.type`, type, 'must be text: this model reads nothing else');
}

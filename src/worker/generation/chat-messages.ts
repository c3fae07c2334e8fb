import { z } from 'zod';
import { IgnoredFields } from '../../contracts/openai/ignored-fields.js';
import {
  missingField,
  readObject,
  unsupportedField,
  wrongField,
} from '../../contracts/schema/field-problems.js';
import {
  ANY_TEXT,
  defaulted,
  FLAG,
  OBJECT,
  objectsUpTo,
  oneOf,
  textUpTo,
  unserved,
} from '../../contracts/schema/rules.js';
import {
  readTools,
  type CallableTool,
  callableTools,
  argumentsOf,
  functionInChat,
  usableTools,
} from '../../contracts/openai/read-tools.js';
import { type Fields, isObject } from '@switchyard/engine-api/is-object.js';
import {
  type Grammar,
  type GrammarTool,
  type TextBackendInfo,
} from '@switchyard/engine-api/text-backend.port.js';

/** What is looked for in an answer that may call tools. */
export interface WantedTools {
  /** False: the answer ends after the first call. */
  readonly parallel: boolean;
  /** Names of those that take one text. */
  readonly custom: readonly string[];
  /** `TOOL/PARAMETER` of those that are texts, where a form does not tell. */
  readonly texts: readonly string[];
  /**
   * One function was named: as with OpenAI, the answer ends with `stop`,
   * not with `tool_calls`.
   */
  readonly named?: true;
}

interface ChatTools {
  /** In OpenAI's form. */
  readonly template: readonly unknown[];
  readonly wanted: WantedTools;
  /** The answer has to be calls. */
  readonly grammar?: Grammar;
}

export const TOOL_FIELDS = {
  tools: z.unknown().optional(),
  tool_choice: z.unknown().optional(),
  parallel_tool_calls: defaulted(FLAG, true),
  functions: unserved('the older form of `tools`'),
};

/** The tools that a chat may call; undefined: none. */
export function toolsOf(
  body: z.output<z.ZodObject<typeof TOOL_FIELDS>>,
  info: TextBackendInfo,
): ChatTools | undefined {
  const parallel = body.parallel_tool_calls;
  // What is ignored here was reported by the gateway.
  const {
    tools: served,
    paths,
    choice: asked,
  } = readTools(body, 'chat', new IgnoredFields());
  if (served.length === 0) return undefined;
  const { usable, choice } = usableTools(callableTools(served, paths), asked);
  if (usable.length === 0 || choice === 'none') return undefined;
  const custom = usable.flatMap(({ name, tool }) => (tool.type === 'custom' ? name : []));
  const texts = usable.flatMap(textParameters);
  const template = usable.map(functionInChat);
  const wanted = { parallel, custom, texts };
  if (choice === 'auto') return { template, wanted };
  if (!info.grammar)
    throw unsupportedField(
      'tool_choice',
      'this model decides by itself; auto and none are known',
    );
  const grammar = (tools: readonly CallableTool[], several: boolean): Grammar => ({
    type: 'tool_calls',
    tools: tools.map(inGrammar),
    several,
    form: info.toolForm,
  });
  if (choice === 'required')
    return { template, wanted, grammar: grammar(usable, parallel) };
  return {
    template,
    wanted: { ...wanted, parallel: false, named: true },
    grammar: grammar([choice], false),
  };
}

function textParameters({ name, parameters }: CallableTool): readonly string[] {
  const properties = parameters?.properties;
  if (!isObject(properties)) return [];
  return Object.entries(properties).flatMap(([key, schema]) =>
    isObject(schema) && schema.type === 'string' ? `${name}/${key}` : [],
  );
}

function inGrammar({ name, parameters, path }: CallableTool): GrammarTool {
  return {
    name,
    path: `${path}.function.parameters`,
    parameters: parameters ?? undefined,
  };
}

const ROLES = ['system', 'developer', 'user', 'assistant', 'tool'] as const;
const MOST_MESSAGES = 100_000;
const MOST_CALLS = 1000;
const NAME = textUpTo(128);

export const MESSAGES = defaulted(objectsUpTo(MOST_MESSAGES, OBJECT), []);

const MESSAGE = z.looseObject({
  role: oneOf(ROLES),
  content: z.unknown().optional(),
  tool_calls: defaulted(objectsUpTo(MOST_CALLS, OBJECT), []),
});
const CUSTOM_CALL = z.looseObject({
  custom: z.object({ name: NAME, input: ANY_TEXT }, 'must be an object'),
});
/** What a template writes of a call. */
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

/** A call as templates know it: of a function, whatever it was. */
function callIn(call: Fields, path: string): Fields {
  if (call.type !== 'custom') {
    readObject(FUNCTION_CALL, call, path);
    return call;
  }
  const { custom, ...rest } = readObject(CUSTOM_CALL, call, path);
  const { name, input } = custom;
  return { ...rest, type: 'function', function: { name, arguments: argumentsOf(input) } };
}

function contentOf(content: unknown, path: string): string | undefined {
  if (content === undefined || typeof content === 'string') return content;
  if (!Array.isArray(content))
    throw wrongField(path, content, 'must be a text or a list of parts');
  return content.map((part, index) => textOf(part, `${path}[${index}]`)).join('');
}

function textOf(part: unknown, path: string): string {
  const { type } = readObject(OBJECT, part, path);
  if (type === 'refusal') return readObject(REFUSAL_PART, part, path).refusal;
  if (type === 'text') return readObject(TEXT_PART, part, path).text;
  throw wrongField(`${path}.type`, type, 'must be text: this model reads nothing else');
}

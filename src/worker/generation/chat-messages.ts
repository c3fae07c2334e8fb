import { IgnoredFields } from '../../contracts/openai/field-rules.js';
import { FieldReader } from '../../contracts/realtime/field-reader.js';
import {
  type CallableTool,
  callableTools,
  argumentsOf,
  functionInChat,
  parametersOf,
  usableTools,
} from '../../contracts/tools/callable-tools.js';
import { readTools } from '../../contracts/tools/read-tools.js';
import {
  type GrammarTool,
  type TextBackendInfo,
} from '@switchyard/engine-api/text-backend.port.js';

export interface ToolFields {
  /** The answer has to be calls of these. */
  readonly forced?: { readonly tools: readonly GrammarTool[]; readonly named: boolean };
  /** In OpenAI's form, for the template. */
  readonly tools: readonly unknown[];
  readonly parallel: boolean;
  /** Names of those that take one text. */
  readonly custom: readonly string[];
}

/** The tools that a chat may call; undefined: none. */
export function toolsOf(
  body: FieldReader,
  info: TextBackendInfo,
): ToolFields | undefined {
  const parallel = body.boolean('parallel_tool_calls') ?? true;
  const given = { tools: body.raw('tools'), tool_choice: body.raw('tool_choice') };
  // What is ignored here was reported by the gateway.
  const {
    tools: served,
    paths,
    choice: asked,
  } = readTools(given, 'chat', new IgnoredFields());
  body.unsupported('functions', 'the older form of `tools`');
  if (served.length === 0) return undefined;
  if (!info.toolCalls)
    throw body.refusal('tools', 'the chat template of this model knows no tools');
  const { usable, choice } = usableTools(callableTools(served, paths), asked);
  if (usable.length === 0 || choice === 'none') return undefined;
  const custom = usable.flatMap(({ name, tool }) => (tool.type === 'custom' ? name : []));
  const fields = { tools: usable.map(functionInChat), parallel, custom };
  if (choice === 'auto') return fields;
  if (!info.grammar)
    throw body.refusal(
      'tool_choice',
      'this model decides by itself; auto and none are known',
    );
  if (choice === 'required')
    return { ...fields, forced: { tools: usable.map(inGrammar), named: false } };
  return {
    ...fields,
    parallel: false,
    forced: { tools: [inGrammar(choice)], named: true },
  };
}

function inGrammar({ name, tool, path }: CallableTool): GrammarTool {
  const parameters = parametersOf(tool);
  return { name, path: `${path}.function.parameters`, ...(parameters && { parameters }) };
}

const ROLES = ['system', 'developer', 'user', 'assistant', 'tool'] as const;
const MOST_MESSAGES = 100_000;
const MOST_CALLS = 1000;
const MOST_NAME = 128;

type Message = Readonly<Record<string, unknown>>;

/**
 * The messages of a chat as templates know them: contents are texts, lists of text parts
 * are joined, and `developer` is the `system` that it replaced. What a template cannot
 * show, such as an image, is refused.
 */
export function chatMessages(body: FieldReader): readonly Message[] {
  const raw = body.raw('messages');
  const messages = body.objects('messages', MOST_MESSAGES);
  if (!messages || messages.length === 0) throw body.missing('messages');
  return messages.map((message, index) =>
    chatMessage(message, (raw as readonly Message[])[index]!),
  );
}

function chatMessage(message: FieldReader, raw: Message): Message {
  const role = message.oneOf('role', ROLES);
  if (role === undefined) throw message.missing('role');
  const content = contentOf(message);
  const calls = message.objects('tool_calls', MOST_CALLS) ?? [];
  const called = calls.map((call, at) =>
    callIn(call, (raw.tool_calls as readonly Message[])[at]!),
  );
  if (content === undefined && !(role === 'assistant' && calls.length > 0))
    throw message.missing('content');
  return {
    ...raw,
    role: role === 'developer' ? 'system' : role,
    content: content ?? '',
    ...(called.length > 0 && { tool_calls: called }),
  };
}

/** A call as templates know it: of a function, whatever it was. */
function callIn(call: FieldReader, raw: Message): Message {
  if (call.raw('type') !== 'custom') {
    demandCall(call);
    return raw;
  }
  const called = call.object('custom');
  if (!called) throw call.missing('custom');
  const name = called.string('name', MOST_NAME);
  if (name === undefined) throw called.missing('name');
  const input = called.string('input', Infinity);
  if (input === undefined) throw called.missing('input');
  const { custom: _, ...rest } = raw;
  return { ...rest, type: 'function', function: { name, arguments: argumentsOf(input) } };
}

/** What a template writes of a call. */
function demandCall(call: FieldReader): void {
  const called = call.object('function');
  if (!called) throw call.missing('function');
  if (called.string('name', MOST_NAME) === undefined) throw called.missing('name');
  const given = called.raw('arguments');
  if (given === undefined) throw called.missing('arguments');
  const isArguments =
    typeof given === 'string' || (typeof given === 'object' && !Array.isArray(given));
  if (!isArguments)
    throw called.invalid('arguments', 'must be JSON in a string, or an object');
}

function contentOf(message: FieldReader): string | undefined {
  const content = message.raw('content');
  if (content === undefined || typeof content === 'string') return content;
  if (!Array.isArray(content))
    throw message.invalid('content', 'must be a text or a list of parts');
  return content
    .map((part, index) =>
      textOf(new FieldReader(part, `${message.pathOf('content')}[${index}]`)),
    )
    .join('');
}

function textOf(part: FieldReader): string {
  const type = part.raw('type');
  if (type === 'refusal') return part.string('refusal', Infinity) ?? '';
  if (type !== 'text')
    throw part.invalid('type', 'must be text: this model reads nothing else');
  const text = part.string('text', Infinity);
  if (text === undefined) throw part.missing('text');
  return text;
}

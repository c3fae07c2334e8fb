import { FieldReader } from '../../contracts/realtime/field-reader.js';
import { type CallableTool, type TextBackendInfo } from '../engines/text-backend.port.js';

export interface ToolFields {
  /** The answer has to be calls of these. */
  readonly forced?: { readonly tools: readonly CallableTool[]; readonly named: boolean };
  /** In OpenAI's form, for the template. */
  readonly tools: readonly unknown[];
  readonly parallel: boolean;
}

const MOST_TOOLS = 128;
const NAME = /^[\w-]{1,128}$/;

/** The tools that a chat may call; undefined: none. */
export function toolsOf(body: FieldReader, info: TextBackendInfo): ToolFields | undefined {
  const tools = body.raw('tools') as readonly unknown[] | undefined;
  const checked = body.objects('tools', MOST_TOOLS);
  const parallel = body.boolean('parallel_tool_calls') ?? true;
  const choice = choiceOf(body);
  body.unsupported('functions', 'the older form of `tools`');
  if (!tools || !checked || checked.length === 0) {
    if (choice !== 'auto' && choice !== 'none') throw body.invalid('tool_choice', 'needs `tools`');
    return undefined;
  }
  const callable = checked.map(callableOf);
  if (!info.toolCalls) throw body.refusal('tools', 'the chat template of this model knows no tools');
  if (choice === 'none') return undefined;
  if (choice === 'auto') return { tools, parallel };
  if (!info.grammar) throw body.refusal('tool_choice', 'this model decides by itself; auto and none are known');
  if (choice === 'required') return { tools, parallel, forced: { tools: callable, named: false } };
  return { tools, parallel: false, forced: { tools: [namedBy(choice, callable, body)], named: true } };
}

interface NamedFunction {
  readonly name: string;
}

function namedBy({ name }: NamedFunction, callable: readonly CallableTool[], body: FieldReader): CallableTool {
  const tool = callable.find(one => one.name === name);
  if (tool) return tool;
  throw body.invalid('tool_choice', `names \`${name}\`, which is none of \`tools\``);
}

function choiceOf(body: FieldReader): 'auto' | 'none' | 'required' | NamedFunction {
  const value = body.raw('tool_choice') ?? 'auto';
  if (value === 'auto' || value === 'none' || value === 'required') return value;
  const named = typeof value === 'object' ? body.object('tool_choice') : undefined;
  const name = named?.object('function')?.string('name', 128);
  if (named && name) {
    named.oneOf('type', ['function']);
    return { name };
  }
  throw body.invalid('tool_choice', 'must be auto, none, required or an object that names a function');
}

function callableOf(tool: FieldReader, index: number): CallableTool {
  tool.oneOf('type', ['function']);
  const wanted = tool.object('function');
  if (!wanted) throw tool.missing('function');
  const parameters = wanted.object('parameters') && (wanted.raw('parameters') as object);
  wanted.string('description', Infinity);
  const name = wanted.string('name', 128);
  if (!name) throw wanted.missing('name');
  if (!NAME.test(name)) throw wanted.invalid('name', 'must be made of letters, digits, underscores and dashes');
  return { name, path: `tools[${index}].function.parameters`, ...(parameters && { parameters }) };
}

const ROLES = ['system', 'developer', 'user', 'assistant', 'tool', 'function'] as const;
const MOST_MESSAGES = 100_000;
const MOST_CALLS = 1000;
const MOST_NAME = 128;

type Message = Readonly<Record<string, unknown>>;

/**
 * The messages of a chat as templates know them: contents are texts, lists of text parts are joined, and `developer` is
 * the `system` that it replaced. What a template cannot show, such as an image, is refused.
 */
export function chatMessages(body: FieldReader): readonly Message[] {
  const raw = body.raw('messages');
  const messages = body.objects('messages', MOST_MESSAGES);
  if (!messages || messages.length === 0) throw body.missing('messages');
  return messages.map((message, index) => chatMessage(message, (raw as readonly Message[])[index]!));
}

function chatMessage(message: FieldReader, raw: Message): Message {
  const role = message.oneOf('role', ROLES);
  if (role === undefined) throw message.missing('role');
  const content = contentOf(message);
  const calls = message.objects('tool_calls', MOST_CALLS) ?? [];
  calls.forEach(demandCall);
  if (content === undefined && !(role === 'assistant' && calls.length > 0)) throw message.missing('content');
  return { ...raw, role: role === 'developer' ? 'system' : role, content: content ?? '' };
}

/** What a template writes of a call. */
function demandCall(call: FieldReader): void {
  const called = call.object('function');
  if (!called) throw call.missing('function');
  if (called.string('name', MOST_NAME) === undefined) throw called.missing('name');
  const given = called.raw('arguments');
  if (given === undefined) throw called.missing('arguments');
  const isArguments = typeof given === 'string' || (typeof given === 'object' && !Array.isArray(given));
  if (!isArguments) throw called.invalid('arguments', 'must be JSON in a string, or an object');
}

function contentOf(message: FieldReader): string | undefined {
  const content = message.raw('content');
  if (content === undefined || typeof content === 'string') return content;
  if (!Array.isArray(content)) throw message.invalid('content', 'must be a text or a list of parts');
  return content.map((part, index) => textOf(new FieldReader(part, `${message.pathOf('content')}[${index}]`))).join('');
}

function textOf(part: FieldReader): string {
  const type = part.raw('type');
  if (type === 'refusal') return part.string('refusal', Infinity) ?? '';
  if (type !== 'text') throw part.invalid('type', 'must be text: this model reads nothing else');
  const text = part.string('text', Infinity);
  if (text === undefined) throw part.missing('text');
  return text;
}

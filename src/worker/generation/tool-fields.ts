import { type FieldReader } from '../../contracts/realtime/field-reader.js';
import { type CallableTool, type TextBackendInfo } from './text-backend.port.js';

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

import { type FieldReader } from '../../contracts/realtime/field-reader.js';
import { type TextBackendInfo } from './text-backend.port.js';

export interface ToolFields {
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
    if (choice === 'required') throw body.invalid('tool_choice', 'needs `tools`');
    return undefined;
  }
  for (const tool of checked) demandFunction(tool);
  if (!info.toolCalls) throw body.refusal('tools', 'the chat template of this model knows no tools');
  if (choice === 'required') throw body.refusal('tool_choice', 'the model decides by itself; auto and none are known');
  return choice === 'none' ? undefined : { tools, parallel };
}

function choiceOf(body: FieldReader): 'auto' | 'none' | 'required' {
  const value = body.raw('tool_choice') ?? 'auto';
  if (value === 'auto' || value === 'none') return value;
  if (value === 'required' || typeof value === 'object') return 'required';
  throw body.invalid('tool_choice', 'must be auto, none, required or an object that names a function');
}

function demandFunction(tool: FieldReader): void {
  tool.oneOf('type', ['function']);
  const wanted = tool.object('function');
  if (!wanted) throw tool.missing('function');
  wanted.object('parameters');
  wanted.string('description', Infinity);
  const name = wanted.string('name', 128);
  if (!name) throw wanted.missing('name');
  if (!NAME.test(name)) throw wanted.invalid('name', 'must be made of letters, digits, underscores and dashes');
}

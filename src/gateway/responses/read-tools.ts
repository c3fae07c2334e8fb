import {
  type FunctionTool,
  type NamedTool,
  type ResponseParams,
  type TextFormat,
  type ToolChoice,
} from '../../contracts/openai/responses.js';
import { type FieldReader } from '../../contracts/realtime/field-reader.js';

const MOST_TOOLS = 128;
const LONGEST_NAME = 128;
const NAME = /^[\w-]{1,128}$/;

type Json = Readonly<Record<string, unknown>>;

/** @throws DomainError for anything but a function: no tool is hosted here */
export function readTools(body: FieldReader): readonly FunctionTool[] {
  return (body.objects('tools', MOST_TOOLS) ?? []).map(tool => {
    demandFunction(tool);
    return {
      ...{ type: 'function', name: nameIn(tool) },
      description: tool.string('description', Infinity) ?? null,
      parameters: objectIn(tool, 'parameters') ?? null,
      strict: tool.boolean('strict') ?? null,
    };
  });
}

function demandFunction(tool: FieldReader): void {
  const type = tool.string('type', 64);
  if (type === undefined) throw tool.missing('type');
  if (type === 'function') return;
  throw tool.refusal('type', `the hosted tool \`${type}\` is not served here; functions are`);
}

function nameIn(of: FieldReader): string {
  const name = of.string('name', LONGEST_NAME);
  if (!name) throw of.missing('name');
  if (!NAME.test(name)) throw of.invalid('name', 'must be made of letters, digits, underscores and dashes');
  return name;
}

const objectIn = (of: FieldReader, name: string): Json | undefined => of.object(name) && (of.raw(name) as Json);

export function readToolChoice(body: FieldReader, tools: readonly FunctionTool[]): ToolChoice {
  const value = body.raw('tool_choice') ?? 'auto';
  if (value === 'auto' || value === 'none') return value;
  if (value === 'required') return tools.length > 0 ? value : needsTools(body);
  const choice = typeof value === 'string' ? undefined : body.object('tool_choice');
  if (!choice) throw body.invalid('tool_choice', 'must be auto, none, required or an object that names tools');
  if (choice.raw('type') !== 'allowed_tools') return namedIn(choice, tools);
  const allowed = choice.objects('tools', MOST_TOOLS) ?? [];
  if (allowed.length === 0) throw choice.missing('tools');
  const mode = choice.oneOf('mode', ['auto', 'required', 'none']) ?? 'auto';
  return { type: 'allowed_tools', mode, tools: allowed.map(tool => namedIn(tool, tools)) };
}

function needsTools(body: FieldReader): never {
  throw body.invalid('tool_choice', 'needs `tools`');
}

function namedIn(choice: FieldReader, tools: readonly FunctionTool[]): NamedTool {
  demandFunction(choice);
  const name = nameIn(choice);
  if (!tools.some(tool => tool.name === name)) throw choice.invalid('name', 'must be that of one of `tools`');
  return { type: 'function', name };
}

export function readText(body: FieldReader): ResponseParams['text'] {
  const text = body.object('text');
  const verbosity = text?.oneOf('verbosity', ['low', 'medium', 'high']);
  const format = text?.object('format');
  return { format: format ? formatOf(format) : { type: 'text' }, ...(verbosity && { verbosity }) };
}

function formatOf(format: FieldReader): TextFormat {
  const type = format.oneOf('type', ['text', 'json_object', 'json_schema']);
  if (type === undefined) throw format.missing('type');
  if (type !== 'json_schema') return { type };
  const schema = objectIn(format, 'schema');
  if (!schema) throw format.missing('schema');
  const description = format.string('description', Infinity) ?? null;
  return { type, name: nameIn(format), description, schema, strict: format.boolean('strict') ?? false };
}

export function readReasoning(body: FieldReader): ResponseParams['reasoning'] {
  const reasoning = body.object('reasoning');
  if (!reasoning) return null;
  const summary = reasoning.string('summary', 64) ?? reasoning.string('generate_summary', 64);
  return { effort: reasoning.string('effort', 64) ?? null, summary: summary ?? null };
}

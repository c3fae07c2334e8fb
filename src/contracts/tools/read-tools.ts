import { type FieldReader } from '../realtime/field-reader.js';
import {
  type CustomTool,
  type FunctionTool,
  type NamedTool,
  type ResponseTool,
  type ToolChoice,
} from '../openai/responses.js';
import { type CallableTool, callableTools, isNamed } from './callable-tools.js';

/** Of one request, and of one namespace. */
const MOST_TOOLS = 1024;
const LONGEST_NAME = 128;
const NAME = /^[\w.-]{1,128}$/;

/** Types of tools that a model can call. Chat declares a tool in a field named as its type. */
const CALLABLE: readonly string[] = ['function', 'custom'];
type ToolForm = 'chat' | 'response';

export interface ReadTools {
  /** Those that can be served, as Responses declares them. */
  readonly tools: readonly ResponseTool[];
  /** Path of each in the body. */
  readonly paths: readonly string[];
  readonly choice: ToolChoice;
}

/**
 * `tools` and `tool_choice` of a text route. Tools that are only offered and cannot be
 * served are left out, with notice.
 * @throws DomainError for a malformed tool, and for a choice that demands what
 *   is not served
 */
export function readTools(body: FieldReader, form: ToolForm): ReadTools {
  const types = form === 'chat' ? CALLABLE : [...CALLABLE, 'namespace'];
  const served = servedIn(body, form, types);
  const tools = served.map(tool => toolIn(tool, form));
  return {
    tools,
    paths: served.map(({ path }) => path),
    choice: choiceIn(body, form, tools),
  };
}

function servedIn(
  of: FieldReader,
  form: ToolForm,
  types: readonly string[],
): readonly FieldReader[] {
  return (of.objects('tools', MOST_TOOLS) ?? []).filter((tool, index) => {
    const type = typeIn(tool, form);
    if (types.includes(type)) return true;
    of.ignore(`tools[${index}]`, unserved(type));
    return false;
  });
}

/** Many who call chat leave out the type of a function. */
function typeIn(of: FieldReader, form: ToolForm): string {
  const type = of.string('type', 64) ?? (form === 'chat' ? 'function' : undefined);
  if (type === undefined) throw of.missing('type');
  return type;
}

const unserved = (type: string): string =>
  `tools of type \`${type}\` are not served here; functions are`;

function toolIn(tool: FieldReader, form: ToolForm): ResponseTool {
  if (tool.raw('type') !== 'namespace') return callableIn(tool, form);
  const tools = servedIn(tool, form, CALLABLE).map(inner => callableIn(inner, form));
  return { type: 'namespace', ...headOf(tool), tools };
}

function callableIn(tool: FieldReader, form: ToolForm): FunctionTool | CustomTool {
  const declared = declaredIn(tool, form);
  const head = headOf(declared);
  if (tool.raw('type') === 'custom') {
    if (declared.object('format')?.raw('type') === 'grammar')
      declared.ignore('format', 'no grammar holds the text');
    return { type: 'custom', ...head };
  }
  const parameters = objectIn(declared, 'parameters') ?? null;
  return {
    type: 'function',
    ...head,
    parameters,
    strict: declared.boolean('strict') ?? null,
  };
}

function declaredIn(of: FieldReader, form: ToolForm): FieldReader {
  if (form === 'response') return of;
  const type = typeIn(of, form);
  const declared = of.object(type);
  if (!declared) throw of.missing(type);
  return declared;
}

const headOf = (declared: FieldReader) => ({
  name: nameIn(declared),
  description: declared.string('description', Infinity) ?? null,
});

/** @throws DomainError for a name that is missing, too long, or has other characters */
export function nameIn(of: FieldReader): string {
  const name = of.string('name', LONGEST_NAME);
  if (!name) throw of.missing('name');
  if (!NAME.test(name))
    throw of.invalid(
      'name',
      'must be made of letters, digits, dots, underscores and dashes',
    );
  return name;
}

export const objectIn = (
  of: FieldReader,
  name: string,
): Readonly<Record<string, unknown>> | undefined =>
  of.object(name) && (of.raw(name) as Readonly<Record<string, unknown>>);

function choiceIn(
  body: FieldReader,
  form: ToolForm,
  tools: readonly ResponseTool[],
): ToolChoice {
  const value = body.raw('tool_choice') ?? 'auto';
  if (value === 'auto' || value === 'none') return value;
  if (value === 'required' && tools.length === 0)
    throw body.invalid(
      'tool_choice',
      'needs at least one of `tools` that is served here',
    );
  if (value === 'required') return value;
  const choice = typeof value === 'object' ? body.object('tool_choice') : undefined;
  if (!choice)
    throw body.invalid(
      'tool_choice',
      'must be auto, none, required or an object that names tools',
    );
  const callable = callableTools(tools);
  if (choice.raw('type') !== 'allowed_tools') return namedIn(choice, form, callable);
  const allowed = declaredIn(choice, form);
  const named = allowed.objects('tools', MOST_TOOLS) ?? [];
  if (named.length === 0) throw allowed.missing('tools');
  const mode = allowed.oneOf('mode', ['auto', 'required', 'none']) ?? 'auto';
  // Those that are not served were left out of `tools`, too; one that is
  // demanded is refused.
  const served = named.filter(
    tool => mode === 'required' || isCallable(typeIn(tool, form)),
  );
  return {
    type: 'allowed_tools',
    mode,
    tools: served.map(tool => namedIn(tool, form, callable)),
  };
}

const isCallable = (type: string): type is NamedTool['type'] => CALLABLE.includes(type);

function namedIn(
  choice: FieldReader,
  form: ToolForm,
  callable: readonly CallableTool[],
): NamedTool {
  const type = typeIn(choice, form);
  if (!isCallable(type)) throw choice.refusal('type', unserved(type));
  const declared = declaredIn(choice, form);
  const namespace = declared.string('namespace', LONGEST_NAME);
  const named = {
    type,
    name: nameIn(declared),
    ...(namespace !== undefined && { namespace }),
  };
  if (callable.some(tool => isNamed(tool, named))) return named;
  throw declared.invalid('name', 'must be that of one of `tools`');
}

import { parseBoundedJson } from '@switchyard/engine-api/bounded-json.js';
import { writeJson } from '@switchyard/engine-api/exact-numbers.js';
import {
  missingField,
  readObject,
  unsupportedField,
  wrongField,
} from '@switchyard/engine-api/field-problems.js';
import { type Fields } from '@switchyard/engine-api/is-object.js';
import {
  defaulted,
  OBJECT,
  objectsUpTo,
  textUpTo,
  always,
  ANY_TEXT,
  filled,
  FLAG,
  oneOf,
  optional,
  orNull,
} from '@switchyard/engine-api/rules.js';
import { z } from 'zod';
import { type IgnoredFields } from './ignored-fields.js';

/** A tool as a function, which is all that models know. */
export interface CallableTool {
  /** What the model calls. */
  readonly name: string;
  readonly tool: Callable;
  /** JSON Schema of the arguments: a custom tool has one text, `input`. */
  readonly parameters: Fields | null;
  readonly namespace?: string | undefined;
  /** Where the tool is in the body. */
  readonly path: string;
}

/** Functions in namespaces are called `NAMESPACE__NAME`. */
export const nameInChat = ({
  name,
  namespace,
}: {
  readonly name: string;
  readonly namespace?: string | undefined;
}): string => (namespace === undefined ? name : `${namespace}__${name}`);

/** @param paths of the tools in the body; default: that of their place */
export function callableTools(
  tools: readonly ResponseTool[],
  paths: readonly string[] = [],
): readonly CallableTool[] {
  return tools.flatMap((tool, index): readonly CallableTool[] => {
    const path = paths[index] ?? `tools[${index}]`;
    if (tool.type !== 'namespace')
      return [{ name: tool.name, tool, parameters: parametersOf(tool), path }];
    const { name: namespace } = tool;
    return tool.tools.map((inner, at) => {
      const name = nameInChat({ name: inner.name, namespace });
      const parameters = parametersOf(inner);
      return { name, tool: inner, parameters, namespace, path: `${path}.tools[${at}]` };
    });
  });
}

/** Names of a tool: that which models call, its own, and its own in its namespace. */
type ToolName = Pick<NamedTool, 'name' | 'namespace'>;

const scopedName = ({ name, namespace }: ToolName): string => `${namespace ?? ''}\0${name}`;

/** A test of tools: whether one of the names means the tool. */
function areNamedBy(named: readonly ToolName[]): (tool: CallableTool) => boolean {
  const names = new Set(named.map(({ name }) => name));
  const scoped = new Set(named.map(scopedName));
  return ({ name, tool, namespace }) =>
    names.has(name) ||
    scoped.has(scopedName(tool)) ||
    scoped.has(scopedName({ ...tool, namespace }));
}

/** A test of names: whether the name means one of the tools. */
function areNamesOf(tools: readonly CallableTool[]): (named: ToolName) => boolean {
  const names = new Set(tools.map(({ name }) => name));
  const scoped = new Set(
    tools.flatMap(({ tool, namespace }) => [
      scopedName({ name: tool.name }),
      scopedName({ name: tool.name, namespace }),
    ]),
  );
  return named => names.has(named.name) || scoped.has(scopedName(named));
}

/** The tools that a model may call under a choice. */
export function usableTools(
  tools: readonly CallableTool[],
  choice: ToolChoice,
): {
  readonly usable: readonly CallableTool[];
  /**
   * The tool that has to be called, or how many calls are demanded (`auto`, `none`,
   * `required`).
   */
  readonly choice: Exclude<ToolChoice, object> | CallableTool;
} {
  if (typeof choice === 'string') return { usable: tools, choice };
  if (choice.type !== 'allowed_tools')
    return {
      usable: tools,
      choice: tools.find(areNamedBy([choice])) ?? 'auto',
    };
  return { usable: tools.filter(areNamedBy(choice.tools)), choice: choice.mode };
}

const TEXT_PARAMETERS = {
  type: 'object',
  required: ['input'],
  additionalProperties: false,
  properties: { input: { type: 'string' } },
};

const parametersOf = (tool: Callable): CallableTool['parameters'] =>
  tool.type === 'custom' ? TEXT_PARAMETERS : tool.parameters;

/** The JSON arguments of a call of a custom tool with this text. */
export const argumentsOf = (input: string): string => writeJson({ input });

/** The text in them; undefined: that is no JSON, or not all of it. */
export function inputOf(json: string): string | undefined {
  try {
    const { input } = parseBoundedJson(json) as { readonly input?: unknown };
    return typeof input === 'string' ? input : json;
  } catch {
    return undefined;
  }
}

/** A tool as a function in the `tools` of a chat. */
export function functionInChat({ name, tool, parameters }: CallableTool): object {
  const { description } = tool;
  const strict = tool.type === 'custom' ? null : tool.strict;
  const given = Object.entries({ name, description, parameters, strict }).filter(
    ([, value]) => value !== null,
  );
  return { type: 'function', function: Object.fromEntries(given) };
}

const LONGEST_NAME = 128;

/** Names of tools, and of response formats. */
export const TOOL_NAME = filled(LONGEST_NAME).regex(
  /^[\w.-]+$/,
  'must be made of letters, digits, dots, underscores and dashes',
);

const HEAD = { name: TOOL_NAME, description: orNull(ANY_TEXT) };

const tool = <const T extends string, F extends z.ZodRawShape>(type: T, fields: F) =>
  z.object({ type: always(type), ...HEAD, ...fields }, 'must be an object');

const FUNCTION = tool('function', {
  parameters: orNull(OBJECT),
  strict: orNull(FLAG),
});

/** A custom tool, which takes one text instead of arguments. */
const CUSTOM = tool('custom', { format: optional(OBJECT) });

const NAMESPACE = tool('namespace', {});

type Callable = z.output<typeof FUNCTION> | Omit<z.output<typeof CUSTOM>, 'format'>;

export type ResponseTool =
  | Callable
  | (z.output<typeof NAMESPACE> & { readonly tools: readonly Callable[] });

const NAMED = z.object(
  { name: TOOL_NAME, namespace: optional(textUpTo(LONGEST_NAME)) },
  'must be an object',
);

interface NamedTool extends z.output<typeof NAMED> {
  readonly type: Callable['type'];
}

const ALLOWED = z.object({
  mode: defaulted(oneOf(['auto', 'required', 'none']), 'auto'),
});

export type ToolChoice =
  | 'auto'
  | 'none'
  | 'required'
  | NamedTool
  /** A choice among some of the tools (`allowed_tools`). */
  | (z.output<typeof ALLOWED> & {
      readonly type: 'allowed_tools';
      readonly tools: readonly NamedTool[];
    });

/** Most tools of one request, and of one namespace. */
const MOST_TOOLS = 1024;

/** Types of tools that a model can call. */
const CALLABLE: readonly string[] = ['function', 'custom'] satisfies Callable['type'][];

const isCallable = (type: string): type is Callable['type'] => CALLABLE.includes(type);

/** A tool, or a choice. Many who call chat leave out the type of a function. */
const TYPED = {
  chat: z.looseObject({ type: defaulted(textUpTo(64), 'function') }, 'must be an object'),
  response: z.looseObject({ type: textUpTo(64) }, 'must be an object'),
};

const LISTS = {
  chat: objectsUpTo(MOST_TOOLS, TYPED.chat),
  response: objectsUpTo(MOST_TOOLS, TYPED.response),
};

/**
 * `tools` and `tool_choice` of a text route. Tools that are only offered and cannot be
 * served are left out, with notice.
 * @throws DomainError for a malformed tool, and for a choice that demands what
 *   is not served
 */
export function readTools(
  body: Fields,
  form: keyof typeof TYPED,
  ignored: IgnoredFields,
): {
  /** The tools that can be served, in the form of Responses. */
  readonly tools: readonly ResponseTool[];
  /** Path of each in the body. */
  readonly paths: readonly string[];
  readonly choice: ToolChoice;
} {
  const reader = new ToolReader(form, ignored);
  const served = reader.served('tools', body.tools, form === 'response');
  const tools = served.map(at => reader.tool(at));
  return {
    tools,
    paths: served.map(({ path }) => path),
    choice: reader.choice(body.tool_choice ?? 'auto', tools),
  };
}

/** An object of the body that declares or names a tool. */
interface Place {
  readonly value: z.output<(typeof TYPED)['response']>;
  readonly path: string;
}

class ToolReader {
  constructor(
    private readonly form: keyof typeof TYPED,
    private readonly ignored: IgnoredFields,
  ) {}

  served(path: string, list: unknown, hasNamespaces = false): readonly Place[] {
    return this.#list(path, list).filter(({ value: { type }, path: at }) => {
      if (isCallable(type) || (hasNamespaces && type === 'namespace')) return true;
      this.ignored.ignore(at, unserved(type));
      return false;
    });
  }

  tool(at: Place): ResponseTool {
    if (at.value.type !== 'namespace') return this.#callable(at);
    const inner = this.served(`${at.path}.tools`, at.value.tools);
    const tools = inner.map(one => this.#callable(one));
    return { ...readObject(NAMESPACE, at.value, at.path), tools };
  }

  choice(value: unknown, tools: readonly ResponseTool[]): ToolChoice {
    if (value === 'auto' || value === 'none') return value;
    if (value === 'required' && tools.length > 0) return value;
    if (typeof value !== 'object')
      throw wrongField(
        'tool_choice',
        value,
        value === 'required'
          ? 'needs at least one of `tools` that is served here'
          : 'must be auto, none, required or an object that names tools',
      );
    const path = 'tool_choice';
    const at = { value: readObject(TYPED[this.form], value, path), path };
    const isKnown = areNamesOf(callableTools(tools));
    if (at.value.type !== 'allowed_tools') return this.#named(at, isKnown);
    const allowed = this.#declared(at);
    const list = `${allowed.path}.tools`;
    const named = this.#list(list, allowed.value.tools);
    if (named.length === 0) throw missingField(list);
    const { mode } = readObject(ALLOWED, allowed.value, allowed.path);
    // Those that are not served were left out of `tools`, too; one that is
    // demanded is refused.
    const served = named.filter(one => mode === 'required' || isCallable(one.value.type));
    return {
      type: 'allowed_tools',
      mode,
      tools: served.map(one => this.#named(one, isKnown)),
    };
  }

  #list(path: string, list: unknown): readonly Place[] {
    return readObject(LISTS[this.form], list ?? [], path).map((value, index) => ({
      value,
      path: `${path}[${index}]`,
    }));
  }

  #callable(at: Place): Callable {
    const { value, path } = this.#declared(at);
    if (at.value.type === 'function') return readObject(FUNCTION, value, path);
    const { format, ...custom } = readObject(CUSTOM, value, path);
    if (format?.type === 'grammar')
      this.ignored.ignore(`${path}.format`, 'no grammar holds the text');
    return custom;
  }

  #named(at: Place, isKnown: (named: ToolName) => boolean): NamedTool {
    const { type } = at.value;
    if (!isCallable(type)) throw unsupportedField(`${at.path}.type`, unserved(type));
    const { value, path } = this.#declared(at);
    const named = { type, ...readObject(NAMED, value, path) };
    if (isKnown(named)) return named;
    throw wrongField(`${path}.name`, named.name, 'must be that of one of `tools`');
  }

  /** Chat declares a tool in a field named as its type. */
  #declared({ value, path }: Place) {
    if (this.form === 'response') return { value, path };
    const inner = `${path}.${value.type}`;
    if (value[value.type] == null) throw missingField(inner);
    return { value: readObject(OBJECT, value[value.type], inner), path: inner };
  }
}

const unserved = (type: string): string =>
  `tools of type \`${type}\` are not served here; functions are`;

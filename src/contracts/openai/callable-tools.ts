import {
  type Callable,
  type NamedTool,
  type ResponseTool,
  type ToolChoice,
} from './read-tools.js';

/** A tool as a function, which is all that models know. */
export interface CallableTool {
  /** What the model calls. */
  readonly name: string;
  readonly tool: Callable;
  readonly namespace?: string | undefined;
  /** In the body. */
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
    if (tool.type !== 'namespace') return [{ name: tool.name, tool, path }];
    const { name: namespace } = tool;
    return tool.tools.map((inner, at) => {
      const name = nameInChat({ name: inner.name, namespace });
      return { name, tool: inner, namespace, path: `${path}.tools[${at}]` };
    });
  });
}

export const isNamed = (
  { name, tool, namespace }: CallableTool,
  named: NamedTool,
): boolean =>
  named.name === name ||
  (named.name === tool.name && (named.namespace ?? namespace) === namespace);

interface UsableTools {
  readonly usable: readonly CallableTool[];
  /** One of them, or how many have to be called. */
  readonly choice: Exclude<ToolChoice, object> | CallableTool;
}

/** The tools that a choice leaves. */
export function usableTools(
  tools: readonly CallableTool[],
  choice: ToolChoice,
): UsableTools {
  if (typeof choice === 'string') return { usable: tools, choice };
  if (choice.type !== 'allowed_tools')
    return { usable: tools, choice: tools.find(tool => isNamed(tool, choice)) ?? 'auto' };
  const usable = tools.filter(tool => choice.tools.some(named => isNamed(tool, named)));
  return { usable, choice: choice.mode };
}

const TEXT_PARAMETERS = {
  type: 'object',
  required: ['input'],
  additionalProperties: false,
  properties: { input: { type: 'string' } },
};

/** JSON Schema of the arguments: a custom tool has one text, `input`. */
export const parametersOf = (tool: CallableTool['tool']) =>
  tool.type === 'custom' ? TEXT_PARAMETERS : tool.parameters;

/** Arguments of a call of a custom tool. */
export const argumentsOf = (input: string): string => JSON.stringify({ input });

/** The text in them; undefined: that is no JSON, or not all of it. */
export function inputOf(json: string): string | undefined {
  try {
    const { input } = JSON.parse(json) as { readonly input?: unknown };
    return typeof input === 'string' ? input : json;
  } catch {
    return undefined;
  }
}

/** As a chat declares it. */
export function functionInChat({ name, tool }: CallableTool): object {
  const { description } = tool;
  const parameters = parametersOf(tool);
  const strict = tool.type === 'custom' ? null : tool.strict;
  const given = Object.entries({ name, description, parameters, strict }).filter(
    ([, value]) => value !== null,
  );
  return { type: 'function', function: Object.fromEntries(given) };
}

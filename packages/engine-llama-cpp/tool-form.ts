import { writeJson } from '@switchyard/engine-api/exact-numbers.js';
import { isObject } from '@switchyard/engine-api/is-object.js';
import { type Grammar, type GrammarTool } from '@switchyard/engine-api/text-backend.port.js';
import { either, GrammarRules, literal } from '@switchyard/json-schema-gbnf/grammar-rules.js';
import { schemaExpression } from '@switchyard/json-schema-gbnf/json-schema-grammar.js';

/** Parallel calls at most, where several are allowed. */
const MOST_CALLS = 8;

/**
 * Calls of tools and nothing else, in the form of the model; the arguments of each are
 * valid under the schema of its parameters. Llama 3 and gpt-oss make one call in
 * an answer. @throws GrammarError as `schemaGrammar`, with the path of the schema
 */
export function toolCallGrammar({
  tools,
  several,
  form,
}: Extract<Grammar, { type: 'tool_calls' }>): string {
  const rules = new GrammarRules('tools');
  const { each, object } = callsOf(tools, rules);
  const most = several ? MOST_CALLS - 1 : 0;
  const repeated = (call: string, between: string): string => {
    const name = rules.add(call);
    return most > 0 ? `${name} (${between}${name}){0,${most}}` : name;
  };
  const root = {
    hermes: () =>
      repeated(`"<tool_call>" space ${object('arguments')} space "</tool_call>"`, '"\\n" '),
    'qwen-xml': () =>
      repeated(`"<tool_call>\\n" ${xmlCalls(tools, rules)} "\\n</tool_call>"`, '"\\n" '),
    llama3: () => object('parameters'),
    mistral: () => `"[TOOL_CALLS][" ${repeated(object('arguments'), '", " ')} "]"`,
    'mistral-args': () =>
      repeated(`"[TOOL_CALLS]" ${each((name, args) => `"${name}[ARGS]" ${args}`)}`, ''),
    'gpt-oss': () =>
      each(
        (name, args) =>
          `"<|channel|>commentary to=functions.${name} <|constrain|>json<|message|>" ${args}`,
      ),
  }[form ?? 'hermes'];
  rules.set('root', root());
  return rules.text();
}

/** One call, with all tools as its alternatives. */
function callsOf(tools: readonly GrammarTool[], rules: GrammarRules) {
  /** @param call of a tool, by its name and the rule of its arguments */
  const each = (call: (name: string, args: string) => string): string =>
    either(
      tools.map(({ name, parameters, path }) => call(name, argumentsRule(parameters, path, rules))),
    );
  const object = (key: 'arguments' | 'parameters'): string => {
    const calls = each(
      (name, args) => `${literal(name)} space "," space ${literal(key)} space ":" space ${args}`,
    );
    return `"{" space ${literal('name')} space ":" space ${calls} space "}"`;
  };
  return { each, object };
}

/** A parameter per element; texts stand as they are, all else as JSON. */
function xmlCalls(tools: readonly GrammarTool[], rules: GrammarRules): string {
  const calls = tools.map(({ name, parameters = {}, path }) => {
    const {
      properties = {},
      required = [],
      $defs = {},
      definitions = {},
    }: {
      readonly properties?: Readonly<Record<string, object>>;
      readonly required?: readonly string[];
      readonly $defs?: object;
      readonly definitions?: object;
    } = parameters;
    const given = Object.entries(properties).map(([key, schema]) => {
      const value = isText(schema)
        ? textRule(schema, rules)
        : schemaExpression(
            isObject(schema) ? { $defs, definitions, ...schema } : {},
            `${path}.properties.${key}`,
            rules,
          );
      const element = rules.add(`${quoted(`<parameter=${key}>\n`)} ${value} "\\n</parameter>\\n"`);
      return required.includes(key) ? element : `${element}?`;
    });
    return [quoted(`<function=${name}>\n`), ...given, '"</function>"'].join(' ');
  });
  return either(calls);
}

/** Without a schema it takes none; one without a type is an object all the same. */
function argumentsRule(parameters: object | undefined, path: string, rules: GrammarRules): string {
  return rules.add(
    parameters === undefined
      ? '"{" space "}"'
      : schemaExpression({ type: 'object', ...parameters }, path, rules),
  );
}

/** Text without `</`, which ends a parameter. */
function textRule(
  { enum: values }: { readonly enum?: readonly string[] },
  rules: GrammarRules,
): string {
  return rules.add(values ? values.map(quoted).join(' | ') : '([^<] | "<" [^/<])*');
}

const isText = (schema: unknown): boolean => isObject(schema) && schema.type === 'string';

/** The text as a GBNF literal, which is escaped like JSON. */
const quoted = (text: string): string => writeJson(text);

import {
  type Grammar,
  type GrammarTool,
} from '@switchyard/engine-api/text-backend.port.js';
import { isObject } from '@switchyard/engine-api/is-object.js';
import {
  either,
  GrammarRules,
  literal,
} from '@switchyard/json-schema-gbnf/grammar-rules.js';
import { schemaExpression } from '@switchyard/json-schema-gbnf/json-schema-grammar.js';

/** Calls side by side, where several are wanted. */
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
  const calls = new CallRules(rules, tools);
  const most = several ? MOST_CALLS - 1 : 0;
  const repeated = (call: string, between: string): string => {
    const name = rules.add(call);
    return most > 0 ? `${name} (${between}${name}){0,${most}}` : name;
  };
  const root = {
    hermes: () =>
      repeated(
        `"<tool_call>" space ${calls.object('arguments')} space "</tool_call>"`,
        '"\\n" ',
      ),
    'qwen-xml': () =>
      repeated(`"<tool_call>\\n" ${calls.xml()} "\\n</tool_call>"`, '"\\n" '),
    llama3: () => calls.object('parameters'),
    mistral: () => `"[TOOL_CALLS][" ${repeated(calls.object('arguments'), '", " ')} "]"`,
    'mistral-args': () =>
      repeated(
        `"[TOOL_CALLS]" ${calls.each((name, args) => `"${name}[ARGS]" ${args}`)}`,
        '',
      ),
    'gpt-oss': () =>
      calls.each(
        (name, args) =>
          `"<|channel|>commentary to=functions.${name} <|constrain|>json<|message|>" ${args}`,
      ),
  }[form ?? 'hermes'];
  rules.set('root', root());
  return rules.text();
}

/** Rules of one call, each with all tools as its alternatives. */
class CallRules {
  constructor(
    private readonly rules: GrammarRules,
    private readonly tools: readonly GrammarTool[],
  ) {}

  /** @param call of a tool, by its name and the rule of its arguments */
  each(call: (name: string, args: string) => string): string {
    return either(
      this.tools.map(({ name, parameters, path }) =>
        call(name, this.#arguments(parameters, path)),
      ),
    );
  }

  object(key: 'arguments' | 'parameters'): string {
    const calls = this.each(
      (name, args) =>
        `${literal(name)} space "," space ${literal(key)} space ":" space ${args}`,
    );
    return `"{" space ${literal('name')} space ":" space ${calls} space "}"`;
  }

  /** A parameter per element; texts stand as they are, all else as JSON. */
  xml(): string {
    const calls = this.tools.map(({ name, parameters = {}, path }) => {
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
          ? this.#text(schema)
          : this.#json(schema, { $defs, definitions }, `${path}.properties.${key}`);
        const element = this.rules.add(
          `${quoted(`<parameter=${key}>\n`)} ${value} "\\n</parameter>\\n"`,
        );
        return required.includes(key) ? element : `${element}?`;
      });
      return [quoted(`<function=${name}>\n`), ...given, '"</function>"'].join(' ');
    });
    return either(calls);
  }

  /** Without a schema it takes none; one without a type is an object all the same. */
  #arguments(parameters: object | undefined, path: string): string {
    return this.rules.add(
      parameters === undefined
        ? '"{" space "}"'
        : schemaExpression({ type: 'object', ...parameters }, path, this.rules),
    );
  }

  /** @param definitions that its references may name */
  #json(schema: unknown, definitions: object, path: string): string {
    return schemaExpression(
      isObject(schema) ? { ...definitions, ...schema } : {},
      path,
      this.rules,
    );
  }

  /** Without `</`, where a parameter ends. */
  #text({ enum: values }: { enum?: readonly string[] }): string {
    return this.rules.add(
      values ? values.map(quoted).join(' | ') : '([^<] | "<" [^/<])*',
    );
  }
}

const isText = (schema: unknown): boolean => isObject(schema) && schema.type === 'string';

/** As a GBNF literal, which escapes as JSON does. */
const quoted = (text: string): string => JSON.stringify(text);

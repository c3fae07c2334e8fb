import { type CallableTool, type Grammar } from '../../../generation/text-backend.port.js';
import { demandBounded } from './gbnf-limits.js';
import { anyObjectGrammar, either, GrammarRules, literal } from './grammar-rules.js';
import { schemaExpression, schemaGrammar } from './json-schema-grammar.js';

/** Calls side by side, where several are wanted. */
const MOST_CALLS = 8;

/**
 * Calls of tools and nothing else, in the form that `ToolCallReader` reads; the arguments of each are valid under the schema of its
 * parameters. @throws DomainError as `schemaGrammar`, with the path of the schema in `tools`
 */
function toolCallGrammar(tools: readonly CallableTool[], several: boolean): string {
  const rules = new GrammarRules('tools');
  const calls = tools.map(({ name, parameters, path }) => {
    // A function without parameters takes none; an object without a type is one all the same.
    const given = parameters === undefined ? '"{" space "}"' : schemaExpression(asObject(parameters), path, rules);
    return `${literal(name)} space "," space "\\"arguments\\"" space ":" space ${rules.add(given)}`;
  });
  const call = rules.add(
    `"<tool_call>" space "{" space "\\"name\\"" space ":" space ${either(calls)} space "}" space "</tool_call>"`,
  );
  rules.set('root', several ? `${call} ("\\n" ${call}){0,${MOST_CALLS - 1}}` : call);
  return rules.text();
}

const asObject = (parameters: object): object => ({ type: 'object', ...parameters });

/** As GBNF, within bounds. @throws DomainError invalid_value: it cannot be held, or costs more than the engine may spend on it */
export function grammarText(grammar: Grammar): string {
  const param = paramOf(grammar);
  const text = writtenOf(grammar, param);
  demandBounded(text, param);
  return text;
}

/** The field that a grammar came from. */
export const paramOf = ({ type }: Grammar): string =>
  ({
    gbnf: 'grammar',
    json_object: 'response_format',
    json_schema: 'response_format.json_schema.schema',
    tool_calls: 'tools',
  })[type];

function writtenOf(grammar: Grammar, param: string): string {
  switch (grammar.type) {
    case 'gbnf':
      return grammar.text;
    case 'json_object':
      return anyObjectGrammar();
    case 'json_schema':
      return schemaGrammar(grammar.schema, param);
    case 'tool_calls':
      return toolCallGrammar(grammar.tools, grammar.several);
  }
}

import { type CallableTool } from '../../../generation/text-backend.port.js';
import { GrammarRules } from './grammar-rules.js';
import { either, literal } from './json-rules.js';
import { schemaExpression } from './json-schema-grammar.js';

/** Calls side by side, where several are wanted. */
const MOST_CALLS = 8;

/**
 * Calls of tools and nothing else, in the form that `ToolCallReader` reads; the arguments of each are valid under the schema of its
 * parameters. @throws DomainError as `schemaGrammar`, with the path of the schema in `tools`
 */
export function toolCallGrammar(tools: readonly CallableTool[], several: boolean): string {
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

import { type Grammar } from '../../../generation/text-backend.port.js';
import { demandBounded } from './gbnf-limits.js';
import { anyObjectGrammar } from './json-rules.js';
import { schemaGrammar } from './json-schema-grammar.js';
import { toolCallGrammar } from './tool-call-grammar.js';

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

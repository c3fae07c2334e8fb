import { type Grammar } from '../../../generation/text-backend.port.js';
import { demandBounded } from './gbnf-limits.js';
import { anyObjectGrammar } from './json-rules.js';
import { schemaGrammar } from './json-schema-grammar.js';

/** Of each grammar that somebody still has: choices of a request share theirs, and ask at each begin. */
const texts = new WeakMap<Grammar, string>();

/** As GBNF. @throws DomainError invalid_value: it cannot be held, or costs more than the engine may spend on it */
export function grammarTextOf(grammar: Grammar): string {
  const text = texts.get(grammar) ?? textOf(grammar);
  texts.set(grammar, text);
  return text;
}

/** The field that a grammar came from. */
export const paramOf = ({ type }: Grammar): string =>
  ({ gbnf: 'grammar', json_object: 'response_format', json_schema: 'response_format.json_schema.schema' })[type];

function textOf(grammar: Grammar): string {
  const param = paramOf(grammar);
  const text = writtenOf(grammar, param);
  demandBounded(text, param);
  return text;
}

function writtenOf(grammar: Grammar, param: string): string {
  switch (grammar.type) {
    case 'gbnf':
      return grammar.text;
    case 'json_object':
      return anyObjectGrammar();
    case 'json_schema':
      return schemaGrammar(grammar.schema, param);
  }
}

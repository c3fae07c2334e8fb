import { type Grammar } from '../../../generation/text-backend.port.js';
import { grammarText } from './grammar-text.js';
import { refused } from './schema-fields.js';

/** GBNF of each grammar that somebody still has: choices of a request share theirs, and ask at each begin. */
const texts = new WeakMap<Grammar, string>();

/** JSON values in a schema, and how deep they lie: what crosses to the child and is walked through there. */
const MOST_VALUES = 50_000;
const DEEPEST_VALUE = 1500;

export const rememberGrammar = (grammar: Grammar, text: string): void => void texts.set(grammar, text);

/** Written once, by the child when the grammar is checked. */
export function knownGrammarText(grammar: Grammar): string {
  const text = texts.get(grammar) ?? grammarText(grammar);
  texts.set(grammar, text);
  return text;
}

/** Counts without recursion. @throws DomainError invalid_value: more values, or deeper ones, than anybody should walk through */
export function demandShallow(grammar: Grammar, param: string): void {
  let values = 0;
  let level: unknown[] = [grammar];
  for (let depth = 0; level.length > 0; depth += 1) {
    values += level.length;
    if (depth > DEEPEST_VALUE) throw refused(param, `values in values are at most ${DEEPEST_VALUE} deep`);
    if (values > MOST_VALUES) throw refused(param, `has more than ${MOST_VALUES} values`);
    level = level.flatMap((value): unknown[] =>
      typeof value === 'object' && value !== null ? Object.values(value) : [],
    );
  }
}

import { type EngineError, invalidValue } from '@switchyard/engine-api/coded-error.js';
import { errorMessage } from '@switchyard/engine-api/error-message.js';
import { type Grammar } from '@switchyard/engine-api/text-backend.port.js';
import { demandBounded } from '@switchyard/json-schema-gbnf/gbnf-limits.js';
import { GrammarError } from '@switchyard/json-schema-gbnf/grammar-error.js';
import { anyObjectGrammar, GrammarRules } from '@switchyard/json-schema-gbnf/grammar-rules.js';
import { schemaGrammar } from '@switchyard/json-schema-gbnf/json-schema-grammar.js';
import { StringRules } from '@switchyard/json-schema-gbnf/string-rules.js';
import { toolCallGrammar } from './tool-form.js';

/**
 * GBNF of each grammar that is still in use: choices of a request share theirs, and ask
 * at each begin.
 */
const texts = new WeakMap<Grammar, string>();

/**
 * JSON values in a schema, and how deep they lie: what crosses to the child and is
 * walked through there.
 */
const MOST_VALUES = 50_000;
const DEEPEST_VALUE = 1500;

/**
 * A grammar within bounds takes a tenth of a second; no sequence gets a token while
 * one is compiled.
 */
const LIMIT_MS = 5000;

/**
 * @param compile writes it in the child; undefined: that did not come to an end within
 *   `limitMs`
 * @throws EngineError invalid_value for one that is too large, or cannot be compiled
 */
export async function checkGrammar(
  grammar: Grammar,
  compile: (limitMs: number) => Promise<string | undefined>,
): Promise<void> {
  demandShallow(grammar);
  const text = await compile(LIMIT_MS);
  if (text === undefined)
    throw grammarRefused(grammar, `it could not be compiled within ${LIMIT_MS} ms`);
  texts.set(grammar, text);
}

/**
 * Written, within bounds, and compiled.
 * @throws EngineError invalid_value for one that cannot be held, or read
 */
export function compiledGrammarText(grammar: Grammar, compile: (text: string) => void): string {
  try {
    const text = grammarText(grammar);
    compile(text);
    return text;
  } catch (error) {
    if (error instanceof GrammarError) throw invalidValue(error.message, error.param);
    const why = errorMessage(error);
    throw invalidValue(`The grammar cannot be read: ${why}`, grammarParam(grammar));
  }
}

/** The GBNF text of a grammar, written at its first use and kept with it. */
export function knownGrammarText(grammar: Grammar): string {
  const text = texts.get(grammar) ?? grammarText(grammar);
  texts.set(grammar, text);
  return text;
}

/**
 * Counts without recursion.
 * @throws EngineError invalid_value: more values, or deeper ones, than can be checked
 *   in reasonable time
 */
function demandShallow(grammar: Grammar): void {
  let values = 0;
  let level: unknown[] = [grammar];
  for (let depth = 0; level.length > 0; depth += 1) {
    values += level.length;
    if (depth > DEEPEST_VALUE)
      throw grammarRefused(grammar, `values in values are at most ${DEEPEST_VALUE} deep`);
    if (values > MOST_VALUES) throw grammarRefused(grammar, `has more than ${MOST_VALUES} values`);
    level = level.flatMap((value): unknown[] =>
      typeof value === 'object' && value !== null ? Object.values(value) : [],
    );
  }
}

function grammarRefused(grammar: Grammar, why: string): EngineError {
  const param = grammarParam(grammar);
  return invalidValue(`\`${param}\`: ${why}.`, param);
}

function regexGrammar(pattern: string, path: string): string {
  const rules = new GrammarRules(path);
  rules.set('root', new StringRules(rules, false).matching(`^(?:${pattern})$`, path));
  return rules.text();
}

/**
 * As GBNF, within bounds.
 * @throws GrammarError: it cannot be held, or costs more than the engine may spend on it
 */
function grammarText(grammar: Grammar): string {
  const param = grammarParam(grammar);
  const text = writtenOf(grammar, param);
  demandBounded(text, param);
  return text;
}

/** Name of the field of the request with the grammar, for error messages. */
const grammarParam = ({ type, param }: Grammar): string =>
  param ??
  {
    gbnf: 'grammar',
    json_object: 'response_format',
    json_schema: 'response_format.json_schema.schema',
    regex: 'guided_regex',
    tool_calls: 'tools',
  }[type];

function writtenOf(grammar: Grammar, param: string): string {
  switch (grammar.type) {
    case 'gbnf':
      return grammar.text;
    case 'json_object':
      return anyObjectGrammar();
    case 'json_schema':
      return schemaGrammar(grammar.schema, param);
    case 'regex':
      return regexGrammar(grammar.pattern, param);
    case 'tool_calls':
      return toolCallGrammar(grammar);
  }
}

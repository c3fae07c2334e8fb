import { rulesText } from './json-rules.js';
import { refused } from './schema-fields.js';

/** Schemas in schemas: deeper ones would overflow a stack here or in llama.cpp. */
const DEEPEST = 200;
/** Schemas that are written down, those of merged ones included. */
const MOST_SCHEMAS = 10_000;
const MOST_CHARACTERS = 500_000;

/** The rules of one grammar while it is written. Bounds are checked with every rule, not when all is done. */
export class GrammarRules {
  readonly #rules = new Map<string, string>([['root', '']]);
  #depth = 0;
  #schemas = 0;
  #characters = 0;

  constructor(private readonly path: string) {}

  /** Counts one schema and what is inside of it. @throws DomainError invalid_value beyond a bound, naming `path` */
  inside(path: string, work: () => string): string {
    if (this.#depth >= DEEPEST) throw refused(path, `schemas in schemas are at most ${DEEPEST} deep`);
    this.count(path);
    this.#depth += 1;
    const expression = work();
    this.#depth -= 1;
    if (expression.length > MOST_CHARACTERS) throw this.#tooLong(path);
    return expression;
  }

  /** One more schema is written or merged. */
  count(path: string): void {
    this.#schemas += 1;
    if (this.#schemas > MOST_SCHEMAS) throw refused(path, `with this one there are more than ${MOST_SCHEMAS} schemas`);
  }

  /** @returns the name of the rule */
  readonly add = (body = ''): string => {
    const name = `r${this.#rules.size}`;
    this.set(name, body);
    return name;
  };

  readonly set = (name: string, body: string): void => {
    this.#characters += name.length + body.length;
    if (this.#characters > MOST_CHARACTERS) throw this.#tooLong(this.path);
    this.#rules.set(name, body);
  };

  text(): string {
    return rulesText(this.#rules);
  }

  #tooLong(path: string): Error {
    return refused(path, `it comes to more than ${MOST_CHARACTERS} characters of grammar`);
  }
}

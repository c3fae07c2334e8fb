/**
 * A schema or a grammar that cannot be held, or costs more than the engine may
 * spend on it.
 */
export class GrammarError extends Error {
  constructor(
    /** Path in the schema, such as `schema.properties.name.pattern`, or of the whole schema. */
    readonly param: string,
    why: string,
  ) {
    super(`\`${param}\`: ${why}.`);
    this.name = 'GrammarError';
  }
}

/** What a caller wrote may be long; a message and a field's name are not. */
export const refused = (path: string, why: string): GrammarError =>
  new GrammarError(clipped(path), why);

const clipped = (path: string): string => (path.length <= 200 ? path : `${path.slice(0, 200)}…`);

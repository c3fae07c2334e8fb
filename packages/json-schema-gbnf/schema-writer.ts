import { type GrammarRules } from './grammar-rules.js';
import { type Schema } from './schema-fields.js';
import { type StringRules } from './string-rules.js';

/** What the rules of objects and arrays need of the whole. */
export interface SchemaWriter {
  readonly rules: GrammarRules;
  readonly strings: StringRules;
  /**
   * The rule of a schema: what stands there once does not grow with every place
   * it is used.
   */
  rule(schema: unknown, path: string): string;
  /** References followed, `allOf` merged. */
  resolved(schema: unknown, path: string): Schema;
  /** All values, where the schema lists them. */
  valuesOf(schema: Schema, path: string): readonly unknown[] | undefined;
}

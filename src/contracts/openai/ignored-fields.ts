import { type Fields } from '@switchyard/engine-api/is-object.js';
import { unsupportedField } from '../schema/field-problems.js';
import { asksForNothing } from '../schema/rules.js';
import { type FieldRules } from './field-types.js';

/**
 * Advisory fields of one request that cannot be honoured (D-34): accepted, and reported
 * to the caller by their paths, or refused when `compat.strict` is on.
 */
export class IgnoredFields {
  readonly paths: string[] = [];

  constructor(readonly strict = false) {}

  /** @throws DomainError where nothing may be ignored */
  ignore(param: string, why: string): void {
    if (this.strict) throw unsupportedField(param, why);
    this.paths.push(param);
  }

  /** A field that has no effect here, if it asks for one. @throws DomainError */
  advised(param: string, value: unknown, why: string): void {
    if (!asksForNothing(value)) this.ignore(param, why);
  }

  /**
   * Those of `rules` that cannot act here. @throws DomainError for the first
   * that is refused
   */
  settle(rules: FieldRules, object: Fields, path = ''): void {
    for (const [name, { treatment, why }] of Object.entries(rules)) {
      const param = path === '' ? name : `${path}.${name}`;
      if (treatment === 'ignored') this.advised(param, object[name], why);
      if (treatment === 'refused' && !asksForNothing(object[name]))
        throw unsupportedField(param, why);
    }
  }
}

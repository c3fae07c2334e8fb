import { type Fields } from '@switchyard/engine-api/is-object.js';
import { unsupportedField } from '../schema/field-problems.js';
import { asksForNothing } from '../schema/rules.js';
import { type FieldRules } from './field-types.js';

/** Ignored fields that are told apart; a caller may send any number. */
const MOST_PATHS = 1000;
const LONGEST_PATH = 256;

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
    if (this.paths.length < MOST_PATHS) this.paths.push(param.slice(0, LONGEST_PATH));
  }

  /** A field that has no effect here, if it asks for one. @throws DomainError */
  advised(param: string, value: unknown, why: string): void {
    if (!asksForNothing(value)) this.ignore(param, why);
  }

  /**
   * The fields that `rules` name; those that cannot act here, and all others, are settled.
   * @throws DomainError as `settle`
   */
  known(rules: FieldRules, object: Fields): Fields {
    this.settle(rules, object);
    this.unknown(rules, object);
    const names = Object.keys(rules).filter(name => object[name] !== undefined);
    return Object.fromEntries(names.map(name => [name, object[name]]));
  }

  /** Fields that nothing here knows: advice of other servers. @throws DomainError */
  unknown(rules: FieldRules, object: Fields): void {
    this.others(object, name => Object.hasOwn(rules, name), 'nothing here knows it');
  }

  /** Fields of an object that do not act. There may be any number: none is copied. */
  others(object: Fields, acts: (name: string) => boolean, why: string, path = ''): void {
    for (const name in object) {
      if (!acts(name)) this.advised(path + name, object[name], why);
      if (this.paths.length === MOST_PATHS) return;
    }
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

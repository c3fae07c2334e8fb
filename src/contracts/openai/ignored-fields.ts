import { unsupportedField } from '@switchyard/engine-api/field-problems.js';
import { type Fields, fieldsIn, isObject } from '@switchyard/engine-api/is-object.js';
import { asksForNothing } from '@switchyard/engine-api/rules.js';
import { type PriorityLabel } from '../../core/request/request-priority.js';
import { type FieldRules } from './field-types.js';

/** The class that `priority` of a body names; undefined: none of this gateway's. */
export const classIn = (priority: unknown): PriorityLabel | undefined =>
  priority === 'realtime' || priority === 'batch' ? priority : undefined;

/** Ignored fields that are told apart; a caller may send any number. */
const MOST_PATHS = 1000;
const LONGEST_PATH = 256;

/** Of a field, or of one in an object: `output_config.effort`. */
const valueAt = (object: Fields, name: string): unknown =>
  name.includes('.')
    ? name.split('.').reduce<unknown>((value, key) => fieldsIn(value)[key], object)
    : object[name];

const containersIn = (rules: FieldRules): ReadonlySet<string> =>
  new Set(Object.keys(rules).flatMap(name => (name.includes('.') ? name.split('.', 1) : [])));

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

  /** Those of a body that cannot act, and those that `rules` do not name. @throws DomainError */
  settleAll(rules: FieldRules, body: Fields): void {
    this.settle(rules, body);
    this.unknown(rules, body);
  }

  /**
   * Fields that nothing here knows, also in the objects whose fields `rules` name: advice
   * of other servers. @throws DomainError
   */
  unknown(rules: FieldRules, object: Fields): void {
    const why = 'nothing here knows it';
    this.priority(object);
    this.others(object, name => Object.hasOwn(rules, name) || name === 'priority', why);
    for (const container of containersIn(rules)) {
      const inner = object[container];
      const isKnown = (name: string): boolean => Object.hasOwn(rules, `${container}.${name}`);
      if (isObject(inner)) this.others(inner, isKnown, why, `${container}.`);
    }
  }

  /** `priority` is a class of this gateway; numbers of other servers are not passed on. */
  priority({ priority }: Fields): void {
    if (classIn(priority) === undefined)
      this.advised('priority', priority, 'its values are realtime and batch');
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
      if (treatment !== 'ignored' && treatment !== 'refused') continue;
      const param = path === '' ? name : `${path}.${name}`;
      const value = valueAt(object, name);
      if (treatment === 'ignored') this.advised(param, value, why);
      else if (!asksForNothing(value)) throw unsupportedField(param, why);
    }
  }
}

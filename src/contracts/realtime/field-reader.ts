import { DomainError } from '../../core/errors/domain-error.js';
import { type FieldRules, type IgnoredFields } from '../openai/field-rules.js';

type Json = Readonly<Record<string, unknown>>;

/**
 * Reads one JSON object of a client field by field, with the path of each for error
 * messages. `null` counts as absent. `done()` rejects fields that were not read: a field
 * either acts or is answered with an error.
 */
export class FieldReader {
  readonly #fields: Json;
  readonly #unread: Set<string>;

  /** @throws DomainError `invalid_value` when `value` is no object. */
  constructor(
    value: unknown,
    /** Of the object in the body; '': it is the body. */
    readonly path: string,
    private readonly ignored?: IgnoredFields,
  ) {
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      throw noObject(value, path);
    this.#fields = value as Json;
    this.#unread = new Set(Object.keys(value));
  }

  /** Path of a field as error messages and `param` name it. */
  pathOf(name: string): string {
    return this.path === '' ? name : `${this.path}.${name}`;
  }

  has(name: string): boolean {
    return this.raw(name) !== undefined;
  }

  /** True for an explicit `null`. */
  isNull(name: string): boolean {
    this.#unread.delete(name);
    return this.#own(name) === null;
  }

  raw(name: string): unknown {
    this.#unread.delete(name);
    return this.#own(name) ?? undefined;
  }

  string(name: string, maxLength: number): string | undefined {
    const value = this.raw(name);
    if (value === undefined) return undefined;
    if (typeof value !== 'string') throw this.invalid(name, 'must be a string');
    if (value.length > maxLength)
      throw this.invalid(name, `must have at most ${maxLength} characters`);
    return value;
  }

  number(name: string, min: number, max: number): number | undefined {
    const accepts = (value: unknown) =>
      typeof value === 'number' && value >= min && value <= max;
    return this.#checked<number>(name, accepts, `a number from ${min} to ${max}`);
  }

  integer(name: string, min: number, max: number): number | undefined {
    const accepts = (value: unknown) =>
      Number.isInteger(value) && Number(value) >= min && Number(value) <= max;
    return this.#checked<number>(name, accepts, `a whole number from ${min} to ${max}`);
  }

  boolean(name: string): boolean | undefined {
    return this.#checked<boolean>(
      name,
      value => typeof value === 'boolean',
      'true or false',
    );
  }

  strings(
    name: string,
    { most, longest }: { most: number; longest: number },
  ): string[] | undefined {
    const value = this.raw(name);
    if (value === undefined) return undefined;
    const fits = (one: unknown): one is string =>
      typeof one === 'string' && one.length <= longest;
    if (!Array.isArray(value) || value.length > most || !value.every(fits))
      throw this.invalid(
        name,
        `must be a list of at most ${most} strings of at most ${longest} characters`,
      );
    return value;
  }

  oneOf<const V extends string | number>(
    name: string,
    values: readonly V[],
  ): V | undefined {
    const accepts = (value: unknown) => values.some(known => known === value);
    return this.#checked<V>(name, accepts, `one of ${values.join(', ')}`);
  }

  object(name: string): FieldReader | undefined {
    const value = this.raw(name);
    return value === undefined
      ? undefined
      : new FieldReader(value, this.pathOf(name), this.ignored);
  }

  objects(name: string, max: number): FieldReader[] | undefined {
    const value = this.raw(name);
    if (value === undefined) return undefined;
    if (!Array.isArray(value) || value.length > max)
      throw this.invalid(name, `must be a list of at most ${max} objects`);
    return value.map(
      (entry, index) =>
        new FieldReader(entry, `${this.pathOf(name)}[${index}]`, this.ignored),
    );
  }

  /**
   * Those of `rules` that cannot act here. @throws DomainError for the first
   * that is refused
   */
  settle(rules: FieldRules): void {
    for (const [name, { treatment, why }] of Object.entries(rules)) {
      if (treatment === 'ignored') this.advised(name, why);
      if (treatment === 'refused') this.unsupported(name, why);
    }
  }

  /**
   * A field of OpenAI's that cannot act here: only a value that asks for nothing
   * passes. @throws DomainError
   */
  unsupported(name: string, why: string): void {
    if (!asksForNothing(this.raw(name))) throw this.refusal(name, why);
  }

  /**
   * A field of OpenAI's that only advises and has no effect here (D-34). @throws
   * DomainError when that is refused
   */
  advised(name: string, why: string): void {
    if (!asksForNothing(this.raw(name))) this.ignore(name, why);
  }

  /** @throws DomainError where nothing may be ignored */
  ignore(name: string, why: string): void {
    if (!this.ignored || this.ignored.strict) throw this.refusal(name, why);
    this.ignored.add(this.pathOf(name));
  }

  refusal(name: string, why: string): DomainError {
    const param = this.pathOf(name);
    return new DomainError(
      'unsupported_parameter',
      `\`${param}\` cannot be honoured: ${why}.`,
      { param },
    );
  }

  /** @throws DomainError `unknown_parameter` for the first field that was not read. */
  done(): void {
    const [name] = this.#unread;
    if (name === undefined) return;
    const param = this.pathOf(name.slice(0, 64));
    throw new DomainError('unknown_parameter', `Unknown parameter: \`${param}\`.`, {
      param,
    });
  }

  invalid(name: string, rule: string): DomainError {
    const param = this.pathOf(name);
    return new DomainError(
      'invalid_value',
      `\`${param}\` ${rule}; got ${shown(this.#own(name))}.`,
      { param },
    );
  }

  missing(name: string): DomainError {
    const param = this.pathOf(name);
    return new DomainError('missing_required_parameter', `\`${param}\` is required.`, {
      param,
    });
  }

  #checked<T>(
    name: string,
    accepts: (value: unknown) => boolean,
    allowed: string,
  ): T | undefined {
    const value = this.raw(name);
    if (value === undefined || accepts(value)) return value as T | undefined;
    throw this.invalid(name, `must be ${allowed}`);
  }

  #own(name: string): unknown {
    return Object.hasOwn(this.#fields, name) ? this.#fields[name] : undefined;
  }
}

const asksForNothing = (value: unknown): boolean =>
  value === undefined ||
  value === '' ||
  value === false ||
  (Array.isArray(value) && value.length === 0);

const SHOWN_CHARACTERS = 80;

function noObject(value: unknown, path: string): DomainError {
  const what = path === '' ? 'What was sent' : `\`${path}\``;
  return new DomainError(
    'invalid_value',
    `${what} must be an object; got ${shown(value)}.`,
    { param: path },
  );
}

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length <= SHOWN_CHARACTERS ? text : `${text.slice(0, SHOWN_CHARACTERS)}…`;
}

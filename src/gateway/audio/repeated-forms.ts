import { type ClassConstructor } from 'class-transformer';
import { parseDto } from '../http/dto-validation.js';

/** Few programs make most requests, each with its one set of fields. */
const FORMS = 64;
/** Longer forms hold a prompt, which changes from file to file. */
const LONGEST_FORM = 512;

type Fields = Readonly<Record<string, unknown>>;

/** `parseDto` for forms that come again and again: equal text fields are validated once. Refusals are not kept. */
export class RepeatedForms<T extends object> {
  readonly #known = new Map<string, Readonly<T>>();

  constructor(private readonly type: ClassConstructor<T>) {}

  /** @returns a DTO that equal forms share. @throws DomainError as `parseDto` does. */
  parse(fields: Fields): Readonly<T> {
    const key = keyOf(fields);
    const known = key === undefined ? undefined : this.#known.get(key);
    if (known) return known;
    const dto = Object.freeze(parseDto(this.type, fields));
    if (key !== undefined) this.#keep(key, dto);
    return dto;
  }

  #keep(key: string, dto: Readonly<T>): void {
    if (this.#known.size === FORMS) this.#known.clear();
    this.#known.set(key, dto);
  }
}

/** Undefined for lists and JSON parts, and for forms too long to be worth it. */
function keyOf(fields: Fields): string | undefined {
  if (!Object.values(fields).every(value => typeof value === 'string')) return undefined;
  const key = JSON.stringify(fields);
  return key.length <= LONGEST_FORM ? key : undefined;
}

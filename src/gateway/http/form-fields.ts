import { DomainError } from '../../core/shared/domain-error.js';
import { type FieldPart } from './form-parts.js';
import { MAX_REFERENCE_BYTES } from './known-speakers.js';

/** Data URLs of voices are the only long fields; in base64, with the prefix. */
export const LONGEST_FIELD = Math.ceil(MAX_REFERENCE_BYTES / 3) * 4 + 256;
/** Any other field: a prompt, a chunking strategy. Also all text of a form that has no voices. */
export const LONGEST_TEXT = 1_048_576;
/** Room for the text fields of one form: four voices and a long prompt. */
export const LONGEST_FORM = 4 * LONGEST_FIELD + LONGEST_TEXT;

/**
 * Text fields of a multipart form. `x` and `x[]` are spellings of the field `x` (COMPAT), a list when they came more than
 * once; `x[key]` is a key of the object `x`. Empty fields count as absent: HTML forms and some clients send every field
 * they know.
 */
export class FormFields {
  readonly #values = new Map<string, unknown[]>();
  readonly #objects = new Map<string, Record<string, unknown>>();
  #length = 0;

  /** @throws DomainError `invalid_value` for a value, or a form, above its limit. */
  add({ fieldname, value, valueTruncated }: Omit<FieldPart, 'type'>): void {
    const [name, key] = nameAndKey(fieldname);
    this.#length += value.length;
    const longest = name === 'known_speaker_references' ? LONGEST_FIELD : LONGEST_TEXT;
    if (valueTruncated || value.length > longest || this.#length > LONGEST_FORM) {
      throw new DomainError('invalid_value', `\`${name}\` is too long.`, { param: name });
    }
    if (value === '') return;
    if (key === '' || /^\d+$/.test(key)) this.#push(name, value);
    else this.#set(name, key, value);
  }

  #push(name: string, value: unknown): void {
    const earlier = this.#values.get(name);
    if (earlier) earlier.push(value);
    else this.#values.set(name, [value]);
  }

  /** The object stands once among the field's values, so that it and a plain value together are seen as two. */
  #set(name: string, key: string, value: unknown): void {
    const known = this.#objects.get(name);
    const object = known ?? (Object.create(null) as Record<string, unknown>);
    object[key] = key in object ? [object[key], value].flat() : value;
    if (known) return;
    this.#objects.set(name, object);
    this.#push(name, object);
  }

  values(): Readonly<Record<string, unknown>> {
    return Object.fromEntries(
      [...this.#values].map(([name, values]) => [name, values.length === 1 ? values[0] : values]),
    );
  }
}

/** `x[key]` → x, key; `x[]` and `x` → x and nothing. */
function nameAndKey(fieldname: string): readonly [name: string, key: string] {
  const open = fieldname.endsWith(']') ? fieldname.lastIndexOf('[') : -1;
  return open < 0 ? [fieldname, ''] : [fieldname.slice(0, open), fieldname.slice(open + 1, -1)];
}

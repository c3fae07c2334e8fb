import { type MultipartValue } from '@fastify/multipart';
import { DomainError } from '../../core/shared/domain-error.js';

/**
 * Text fields of a multipart form. `x`, `x[]` and `x[key]` are spellings of the field `x` (COMPAT); a field that came
 * more than once is a list. Empty fields count as absent: HTML forms and some clients send every field they know.
 */
export class FormFields {
  readonly #values = new Map<string, unknown[]>();

  /** @throws DomainError `invalid_value` when the value was cut at the size limit. */
  add(part: Pick<MultipartValue, 'fieldname' | 'value' | 'valueTruncated'>): void {
    const name = part.fieldname.replace(/\[[^\]]*\]$/, '');
    if (part.valueTruncated) {
      throw new DomainError('invalid_value', `\`${name}\` is too long.`, { param: name });
    }
    if (part.value === '') return;
    const earlier = this.#values.get(name);
    if (earlier) earlier.push(part.value);
    else this.#values.set(name, [part.value]);
  }

  values(): Readonly<Record<string, unknown>> {
    return Object.fromEntries(
      [...this.#values].map(([name, values]) => [name, values.length === 1 ? values[0] : values]),
    );
  }
}

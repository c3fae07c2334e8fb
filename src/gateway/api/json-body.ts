import { DomainError } from '../../core/shared/domain-error.js';

/** The fields of a JSON body. @throws DomainError `invalid_json` for what is no object */
export function fieldsOf(body: unknown): Readonly<Record<string, unknown>> {
  if (typeof body === 'object' && body !== null && !Array.isArray(body)) return body as Record<string, unknown>;
  throw new DomainError('invalid_json', 'The body must be a JSON object.');
}

import { DomainError } from '../../core/shared/domain-error.js';

const SHOWN_CHARACTERS = 80;

/** The fields of a JSON body. @throws DomainError `invalid_json` for what is no object */
export function fieldsOf(body: unknown): Readonly<Record<string, unknown>> {
  if (typeof body === 'object' && body !== null && !Array.isArray(body)) return body as Record<string, unknown>;
  const got = body === undefined ? 'nothing' : JSON.stringify(body).slice(0, SHOWN_CHARACTERS);
  throw new DomainError('invalid_json', `The body must be a JSON object; got ${got}.`);
}

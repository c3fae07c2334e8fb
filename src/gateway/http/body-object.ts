import { type FastifyRequest } from 'fastify';
import { DomainError } from '../../core/shared/domain-error.js';
import { fieldsOf } from './json-body.js';

/** @throws DomainError `unsupported_media_type` for a form, `invalid_json` for anything but an object. */
export function bodyObject(request: FastifyRequest): Readonly<Record<string, unknown>> {
  if (request.isMultipart()) throw new DomainError('unsupported_media_type', 'Send the request as application/json.');
  return fieldsOf(request.body);
}

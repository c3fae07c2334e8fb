import { type FastifyRequest } from 'fastify';
import { DomainError } from '../../core/shared/domain-error.js';

/** @throws DomainError `unsupported_media_type` for a form, `invalid_json` for anything but an object. */
export function bodyObject(request: FastifyRequest): Record<string, unknown> {
  const { body } = request;
  if (request.isMultipart()) throw new DomainError('unsupported_media_type', 'Send the request as application/json.');
  if (typeof body === 'object' && body !== null && !Array.isArray(body)) return body as Record<string, unknown>;
  throw new DomainError('invalid_json', 'The body must be a JSON object.');
}

import { type ExecutionContext } from '@nestjs/common';
import { BODY_BOUNDS, jsonExcess } from '@switchyard/engine-api/bounded-json.js';
import { isObject } from '@switchyard/engine-api/is-object.js';
import { type FastifyInstance, type FastifyRequest } from 'fastify';
import { DomainError } from '../../core/errors/domain-error.js';

const SHOWN_CHARACTERS = 80;

/**
 * The fields of a JSON body. @throws DomainError `invalid_json` for anything
 * but an object
 */
export function bodyFields(body: unknown): Readonly<Record<string, unknown>> {
  if (isObject(body)) return body;
  const got = body === undefined ? 'nothing' : JSON.stringify(body).slice(0, SHOWN_CHARACTERS);
  throw new DomainError('invalid_json', `The body must be a JSON object; got ${got}.`);
}

/**
 * What a request for a model says: its fields, and its bytes as they came, which may
 * be passed on.
 */
export interface JsonRequest {
  readonly fields: Readonly<Record<string, unknown>>;
  readonly bytes: Buffer;
}

/**
 * @throws DomainError `unsupported_media_type` for a form, `invalid_json` for anything
 *   but an object.
 */
export function jsonRequest(_: unknown, context: ExecutionContext): JsonRequest {
  const request = context.switchToHttp().getRequest<FastifyRequest>();
  if (request.isMultipart())
    throw new DomainError('unsupported_media_type', 'Send the request as application/json.');
  return { fields: bodyFields(request.body), bytes: BODIES.get(request) ?? NO_BYTES };
}

const NO_BYTES = Buffer.alloc(0);

const BODIES = new WeakMap<FastifyRequest, Buffer>();
const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);

/**
 * Bounds JSON before it is parsed, parses it as strictly as Fastify does, and keeps its
 * bytes: a body that is forwarded must not be serialised again, which would lose digits
 * of large numbers.
 */
export function keepJsonBytes(fastify: FastifyInstance): void {
  const parse = fastify.getDefaultJsonParser('error', 'error');
  fastify.removeContentTypeParser('application/json');
  fastify.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    const bytes = body as Buffer;
    const marked = bytes.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK);
    const text = bytes.toString('utf8');
    const excess = jsonExcess(text, BODY_BOUNDS);
    if (excess !== undefined)
      return done(new DomainError('invalid_json', `The JSON body ${excess}.`));
    BODIES.set(request, marked ? bytes.subarray(BYTE_ORDER_MARK.length) : bytes);
    void parse(request, text, (error, parsed) => done(error && unreadable(text, error), parsed));
  });
}

/**
 * Adds the position, which Fastify does not report. Text that parses here has a key
 * that Fastify rejects.
 */
function unreadable(text: string, cause: Error): DomainError {
  let reason = 'a field named `__proto__`, or `prototype` of a `constructor`, is not accepted';
  try {
    JSON.parse(text);
  } catch (error) {
    reason = (error as Error).message;
  }
  return new DomainError('invalid_json', `The JSON body cannot be parsed: ${reason}.`, {
    cause,
  });
}

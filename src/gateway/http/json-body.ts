import { isUtf8 } from 'node:buffer';
import { type ExecutionContext } from '@nestjs/common';
import { BODY_BOUNDS, parseBoundedJson } from '@switchyard/engine-api/bounded-json.js';
import { writeJson } from '@switchyard/engine-api/exact-numbers.js';
import { isObject } from '@switchyard/engine-api/is-object.js';
import { type FastifyInstance, type FastifyRequest } from 'fastify';
import { withoutJsonField } from '../../contracts/formats/json-fields.js';
import { DomainError } from '../../core/errors/domain-error.js';

const SHOWN_CHARACTERS = 80;

/**
 * The fields of a JSON body. @throws DomainError `invalid_json` for anything
 * but an object
 */
export function bodyFields(body: unknown): Readonly<Record<string, unknown>> {
  if (isObject(body)) return body;
  const got = body === undefined ? 'nothing' : writeJson(body).slice(0, SHOWN_CHARACTERS);
  throw new DomainError('invalid_json', `The body must be a JSON object; got ${got}.`);
}

/**
 * What a request for a model says: its fields, and its bytes as they came but for
 * `priority`, which may be passed on.
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
  const fields = bodyFields(request.body);
  const bytes = BODIES.get(request) ?? NO_BYTES;
  if (fields.priority === undefined) return { fields, bytes };
  // A server that the bytes are passed on to would let any caller go first by it.
  return { fields, bytes: withoutJsonField(bytes, 'priority') };
}

const NO_BYTES = Buffer.alloc(0);

const BODIES = new WeakMap<FastifyRequest, Buffer>();
const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);

/**
 * Reads JSON bodies within bounds and as strictly as Fastify does, and keeps their bytes:
 * a body that is forwarded is not serialised again. Answers are written with the digits
 * of the numbers that were read.
 */
export function keepJsonBytes(fastify: FastifyInstance): void {
  const parse = fastify.getDefaultJsonParser('error', 'error');
  fastify.setReplySerializer(payload => writeJson(payload));
  // Ollama's server reads JSON whatever the type says, as its documented examples rely on.
  fastify.addHook('onRequest', (request, _reply, done) => {
    if (request.url.startsWith('/api/')) request.headers['content-type'] = 'application/json';
    done();
  });
  fastify.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    const bytes = body as Buffer;
    // As Ollama's server does, others refuse it.
    if (!isUtf8(bytes) && !request.url.startsWith('/api/')) return done(notUtf8());
    const marked = bytes.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK);
    const text = bytes.toString('utf8');
    const strictly = (json: string): unknown => {
      let result: { readonly error: Error | null; readonly value?: unknown } = { error: null };
      void parse(request, json, (error, value) => (result = { error, value }));
      if (result.error) throw result.error;
      return result.value;
    };
    BODIES.set(request, marked ? bytes.subarray(BYTE_ORDER_MARK.length) : bytes);
    let fields: unknown;
    try {
      fields = parseBoundedJson(text, BODY_BOUNDS, strictly);
    } catch (error) {
      return done(unreadable(text, error as Error));
    }
    done(null, fields);
  });
}

/** Letters of another encoding would be read as U+FFFD. */
const notUtf8 = (): DomainError =>
  new DomainError('invalid_json', 'The JSON body is not UTF-8: send the text in that encoding.');

/**
 * Adds the position, which Fastify does not report. Text that parses here has a key
 * that Fastify rejects.
 */
function unreadable(text: string, cause: Error): DomainError {
  if (cause instanceof DomainError)
    return new DomainError('invalid_json', cause.message.replace('The JSON', 'The JSON body'));
  let reason = 'a field named `__proto__`, or `prototype` of a `constructor`, is not accepted';
  try {
    parseBoundedJson(text);
  } catch (error) {
    reason = (error as Error).message;
  }
  return new DomainError('invalid_json', `The JSON body cannot be parsed: ${reason}.`, {
    cause,
  });
}

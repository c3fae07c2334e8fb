import { type FastifyInstance, type FastifyRequest } from 'fastify';

const BODIES = new WeakMap<FastifyRequest, Buffer>();
const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);

/**
 * JSON is parsed as strictly as Fastify does by itself, and its bytes are kept beside: what is handed on to another server must not
 * be printed anew, which would lose digits of large numbers.
 */
export function keepJsonBytes(fastify: FastifyInstance): void {
  const parse = fastify.getDefaultJsonParser('error', 'error');
  fastify.removeContentTypeParser('application/json');
  fastify.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    const bytes = body as Buffer;
    const marked = bytes.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK);
    BODIES.set(request, marked ? bytes.subarray(BYTE_ORDER_MARK.length) : bytes);
    void parse(request, bytes.toString('utf8'), done);
  });
}

/** The bytes of a request's JSON body; empty when it has none. */
export const rawBodyOf = (request: FastifyRequest): Buffer => BODIES.get(request) ?? Buffer.alloc(0);

import { createHash } from 'node:crypto';
import { type IncomingHttpHeaders } from 'node:http';
import { Transform } from 'node:stream';
import { type FastifyRequest } from 'fastify';

/** Media type and, of a form, what separates its parts. */
const BOUNDARY = /;\s*boundary=(?:"([^"]{1,70})"|([^\s;"]{1,70}))/i;

/**
 * What is known before the body of a form is read: route, type and length. Of JSON it is all: its bytes count as they are.
 * What the bytes of a form add follows a dot once they have come.
 */
export function fingerprintOf(request: FastifyRequest, json: Buffer | undefined): string {
  const type = mediaType(request.headers);
  const content = json ?? request.headers['content-length'] ?? '';
  return createHash('sha256')
    .update(`${request.url.split('?', 1)[0]} ${type} `)
    .update(content)
    .digest('hex');
}

/** False: another request. Undefined: only the bytes can tell. */
export function isSame(kept: string, asked: string): boolean | undefined {
  const [keptHead, keptBody] = kept.split('.');
  const [askedHead, askedBody] = asked.split('.');
  if (keptHead !== askedHead) return false;
  if (keptBody === undefined) return true;
  return askedBody === undefined ? undefined : keptBody === askedBody;
}

/**
 * Passes a form on and takes the SHA-256 of its bytes without its boundaries: SDKs draw a new boundary for every attempt, and
 * the rest of a retry is the same.
 */
export class FormDigest extends Transform {
  readonly #hash = createHash('sha256');
  readonly #boundary: Buffer;
  /** End of what has come: a boundary may begin in it. */
  #tail = Buffer.alloc(0);

  constructor(
    private readonly head: string,
    headers: IncomingHttpHeaders,
  ) {
    super();
    const [, quoted, plain] = BOUNDARY.exec(headers['content-type'] ?? '') ?? [];
    this.#boundary = Buffer.from(quoted ?? plain ?? '', 'latin1');
  }

  /** Once all has come. */
  get fingerprint(): string {
    return `${this.head}.${this.#hash.copy().digest('hex')}`;
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: (error: null, chunk: Buffer) => void): void {
    this.#take(Buffer.concat([this.#tail, chunk]));
    done(null, chunk);
  }

  override _flush(done: () => void): void {
    this.#hash.update(this.#tail);
    this.#tail = Buffer.alloc(0);
    done();
  }

  #take(bytes: Buffer): void {
    const { length } = this.#boundary;
    if (length === 0) return void this.#hash.update(bytes);
    let from = 0;
    for (let at = bytes.indexOf(this.#boundary); at >= 0; at = bytes.indexOf(this.#boundary, from)) {
      this.#hash.update(bytes.subarray(from, at));
      from = at + length;
    }
    const keep = Math.max(from, bytes.length - length + 1);
    this.#hash.update(bytes.subarray(from, keep));
    this.#tail = Buffer.from(bytes.subarray(keep));
  }
}

export const isJson = ({ headers }: FastifyRequest): boolean => mediaType(headers) === 'application/json';

const mediaType = (headers: IncomingHttpHeaders): string =>
  (headers['content-type'] ?? '').split(';', 1)[0]!.trim().toLowerCase();

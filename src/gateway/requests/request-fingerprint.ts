import { createHash } from 'node:crypto';
import { type IncomingHttpHeaders } from 'node:http';
import { type FastifyRequest } from 'fastify';

/** Media type and, of a form, what separates its parts. */
const BOUNDARY = /;\s*boundary=(?:"([^"]{1,70})"|([^\s;"]{1,70}))/i;

/**
 * More than a form may have parts. A boundary of one letter can occur millions of times,
 * and each occurrence would cost a search and an update.
 */
const MOST_DELIMITERS = 128;

/**
 * Route, type and length: what is known before the body of a form is read. For JSON
 * the bytes are included. The digest of a form's bytes is appended after a dot once
 * they are read.
 */
export function fingerprintOf(request: FastifyRequest, json: Buffer | undefined): string {
  const type = mediaType(request.headers);
  const content = json ?? request.headers['content-length'] ?? '';
  return createHash('sha256')
    .update(`${request.url.split('?', 1)[0]} ${type} `)
    .update(content)
    .digest('hex');
}

/** False: another request. Undefined: only the bytes show whether it is the same. */
export function isSame(stored: string, asked: string): boolean | undefined {
  const [keptHead, keptBody] = stored.split('.');
  const [askedHead, askedBody] = asked.split('.');
  if (keptHead !== askedHead) return false;
  if (keptBody === undefined) return true;
  return askedBody === undefined ? undefined : keptBody === askedBody;
}

/**
 * The SHA-256 of the bytes of a form without its boundaries: SDKs generate a new boundary
 * for every attempt, and the rest of a retry is equal.
 */
export class FormDigest {
  readonly #hash = createHash('sha256');
  /** The boundary of the form, which does not count; empty: all bytes count. */
  #delimiter: Buffer;
  #delimiters = 0;
  /**
   * End of the bytes so far: a delimiter may start in it. The first delimiter has no
   * line before it.
   */
  #tail = Buffer.from('\r\n');

  constructor(
    private readonly head: string,
    headers: IncomingHttpHeaders,
  ) {
    const [, quoted, plain] = BOUNDARY.exec(headers['content-type'] ?? '') ?? [];
    const boundary = quoted ?? plain;
    this.#delimiter = Buffer.from(boundary === undefined ? '' : `\r\n--${boundary}`, 'latin1');
  }

  /** Fingerprint of the bytes so far. */
  get fingerprint(): string {
    return `${this.head}.${this.#hash.copy().update(this.#tail).digest('hex')}`;
  }

  take(chunk: Buffer): void {
    const bytes = Buffer.concat([this.#tail, chunk]);
    let from = 0;
    for (let at = this.#next(bytes, 0); at >= 0; at = this.#next(bytes, from)) {
      this.#hash.update(bytes.subarray(from, at));
      from = at + this.#delimiter.length;
    }
    const keep = Math.max(from, bytes.length - Math.max(0, this.#delimiter.length - 1));
    this.#hash.update(bytes.subarray(from, keep));
    this.#tail = Buffer.from(bytes.subarray(keep));
  }

  /** Passes the bytes on unchanged and adds them to the digest. */
  async *passing(bytes: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const chunk of bytes) {
      this.take(chunk);
      yield chunk;
    }
  }

  #next(bytes: Buffer, from: number): number {
    if (this.#delimiters === MOST_DELIMITERS) this.#delimiter = Buffer.alloc(0);
    const at = this.#delimiter.length === 0 ? -1 : bytes.indexOf(this.#delimiter, from);
    if (at >= 0) this.#delimiters += 1;
    return at;
  }
}

export const isJson = ({ headers }: FastifyRequest): boolean =>
  mediaType(headers) === 'application/json';

const mediaType = (headers: IncomingHttpHeaders): string =>
  (headers['content-type'] ?? '').split(';', 1)[0]!.trim().toLowerCase();

import { createHash } from 'node:crypto';
import { DomainError } from '../../../core/errors/domain-error.js';
import { fileTooLarge } from '../../../platform/storage/size-limit.js';

const NEWLINE = 0x0a;

export interface FileLimits {
  readonly maxBytes: number;
  /** Infinity = unlimited. */
  readonly maxLines: number;
  /** Bytes left of the tenant's quota; absent: no quota. */
  readonly quotaLeftBytes?: number;
}

/** Counts, hashes and bounds bytes while they are written to the blob store. */
export class MeasuredBytes {
  readonly #sha256 = createHash('sha256');
  #size = 0;
  #lineBreaks = 0;
  #last = NEWLINE;

  constructor(private readonly limits: FileLimits) {}

  get size(): number {
    return this.#size;
  }

  /** A last line without a line break counts. */
  get lines(): number {
    return this.#lineBreaks + (this.#last === NEWLINE ? 0 : 1);
  }

  /**
   * @throws DomainError `file_too_large`, `too_many_lines`, `storage_quota_exceeded` at
   *   the first byte over.
   */
  async *of(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const chunk of source) {
      this.#add(chunk);
      this.assertWithin(this.limits);
      yield chunk;
    }
  }

  /** For limits that were not known during the upload. @throws as `of` */
  assertWithin({ maxBytes, maxLines, quotaLeftBytes = Infinity }: FileLimits): void {
    if (this.#size > maxBytes) throw fileTooLarge(maxBytes);
    if (this.#size > quotaLeftBytes)
      throw new DomainError(
        'storage_quota_exceeded',
        `The tenant's quota has ${quotaLeftBytes} bytes left; ` +
          'delete files or ask for a higher files.tenant_quota_bytes.',
        { param: 'file' },
      );
    if (this.lines <= maxLines) return;
    throw new DomainError('too_many_lines', `The file has more than ${maxLines} lines.`, {
      param: 'file',
    });
  }

  /** In hex; complete after the last byte. */
  get sha256(): string {
    return this.#sha256.copy().digest('hex');
  }

  #add(chunk: Uint8Array): void {
    if (chunk.byteLength === 0) return;
    this.#size += chunk.byteLength;
    this.#sha256.update(chunk);
    for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, at + 1))
      this.#lineBreaks += 1;
    this.#last = chunk[chunk.byteLength - 1]!;
  }
}

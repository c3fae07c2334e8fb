import { DomainError } from '../../core/errors/domain-error.js';

/**
 * The pieces of `source`, while they are at most `maxBytes` together.
 * @throws DomainError `file_too_large` at the first byte over
 */
export async function* boundedBytes(
  source: AsyncIterable<Buffer>,
  maxBytes: number,
): AsyncGenerator<Buffer> {
  let size = 0;
  for await (const piece of source) {
    size += piece.length;
    if (size > maxBytes) throw fileTooLarge(maxBytes);
    yield piece;
  }
}

/** @param maxBytes `server.upload_limit_bytes` or the limit of the file's purpose */
export function fileTooLarge(maxBytes: number): DomainError {
  const mib = Number((maxBytes / 1_048_576).toFixed(2));
  const message = `The upload is larger than ${maxBytes} bytes (${mib} MiB).`;
  return new DomainError('file_too_large', message, { param: 'file' });
}

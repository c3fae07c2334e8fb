import { Readable } from 'node:stream';
import { type FastifyReply, type FastifyRequest } from 'fastify';
import { type BlobStore, type StoredFile } from '../../../core/jobs/job.ports.js';
import { DomainError } from '../../../core/shared/domain-error.js';
import { BlobMissing } from '../../../platform/storage/storage-problems.js';
import { byteRange, type ByteRange, namesTag } from './byte-range.js';

/**
 * Sends the bytes of a file, or the range asked for. Files never change, so the digest of their bytes is their tag. Nothing
 * ends a slow download but its client; one that left is not read for.
 */
export async function sendContent(
  blobs: BlobStore,
  file: StoredFile,
  { request, reply }: { readonly request: FastifyRequest; readonly reply: FastifyReply },
): Promise<void> {
  const etag = `"${file.sha256}"`;
  void reply.headers({ etag, 'accept-ranges': 'bytes', 'cache-control': 'private, no-cache' });
  if (namesTag(request.headers['if-none-match'], etag)) return void reply.code(304).send();
  const range = rangeOf(request, etag, file.bytes);
  if (range === 'unsatisfiable') {
    void reply.header('content-range', `bytes */${file.bytes}`);
    throw new DomainError('range_not_satisfiable', `The file has ${file.bytes} bytes.`, { param: 'Range' });
  }
  describe(reply, file, range);
  // Of an empty stream Fastify leaves the length alone; of an empty text it would say 0.
  if (request.method === 'HEAD') return void reply.send(Readable.from([]));
  void reply.send(await opened(blobs.read(file.blobKey, range)));
}

/** With `If-Range`, a range of other bytes than these is not wanted: all of them are. */
function rangeOf({ headers }: FastifyRequest, etag: string, size: number): ByteRange | 'unsatisfiable' | undefined {
  const condition = headers['if-range'];
  return condition === undefined || condition === etag ? byteRange(headers.range, size) : undefined;
}

function describe(reply: FastifyReply, { filename, bytes }: StoredFile, range: ByteRange | undefined): void {
  const { from, to } = range ?? { from: 0, to: bytes - 1 };
  if (range) void reply.code(206).header('content-range', `bytes ${from}-${to}/${bytes}`);
  void reply.headers({
    'content-type': 'application/octet-stream',
    'content-length': to - from + 1,
    'content-disposition': `attachment; filename*=UTF-8''${encodeURIComponent(wellFormed(filename))}`,
    'x-content-type-options': 'nosniff',
  });
}

/** What is wrong with the blob shows at its first bytes, before any header has left. */
async function opened(bytes: AsyncIterable<Uint8Array>): Promise<Readable> {
  const iterator = bytes[Symbol.asyncIterator]();
  const first = await iterator.next().catch((error: unknown) => {
    if (!(error instanceof BlobMissing)) throw error;
    throw new DomainError('file_not_found', 'The bytes of the file are gone.', { param: 'id', cause: error });
  });
  const stream = Readable.from(following(first, iterator), { objectMode: false });
  // Also when nothing was read of the stream, and so nothing of the generator ran.
  stream.once('close', () => void iterator.return?.());
  return stream;
}

async function* following(
  first: IteratorResult<Uint8Array>,
  iterator: AsyncIterator<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  for (let step = first; !step.done; step = await iterator.next()) yield step.value;
}

/** Half a surrogate pair cannot be encoded. */
const wellFormed = (text: string): string => Buffer.from(text).toString();

import { Readable } from 'node:stream';
import { Inject, Injectable } from '@nestjs/common';
import { type Fields } from '@switchyard/engine-api/is-object.js';
import { type FastifyReply, type FastifyRequest } from 'fastify';
import { FileCreateDto, type FileListQueryDto } from '../../../contracts/openai/file.dto.js';
import { DomainError } from '../../../core/errors/domain-error.js';
import { type BatchJob } from '../../../core/jobs/batch-job.js';
import { type BlobStore, type Page, type StoredFile } from '../../../core/jobs/job.ports.js';
import { Settings } from '../../../platform/config/settings.js';
import { FileStore } from '../../../platform/database/file-store.js';
import { JobStore } from '../../../platform/database/job-store.js';
import { BlobMissing } from '../../../platform/storage/storage-problems.js';
import { parseDto } from '../../http/dto-validation.js';
import { type FormSource } from '../../http/multipart-form.js';
import { API_BLOBS } from '../shared/counted-blobs.js';
import { fileOfFailedLines } from './failed-lines.js';
import { readFileForm } from './file-form.js';
import { FileWriter, type WrittenBytes, limitsOf } from './file-writer.js';

/** Inclusive positions. */
interface ByteRange {
  readonly from: number;
  readonly to: number;
}

/**
 * One `Range` over `size` bytes (RFC 9110 §14): `bytes=0-99`, `bytes=100-`, `bytes=-100`.
 * Several ranges, other units and invalid values are ignored (undefined: all bytes), as
 * the RFC allows.
 */
export function byteRange(
  header: string | undefined,
  size: number,
): ByteRange | 'unsatisfiable' | undefined {
  const match = /^bytes=[ \t]*(\d*)-(\d*)[ \t]*$/i.exec(header ?? '');
  const [, first = '', last = ''] = match ?? [];
  if (first === '' && last === '') return undefined;
  if (first === '') return within({ from: Math.max(0, size - Number(last)), to: size - 1 }, size);
  if (last !== '' && Number(last) < Number(first)) return undefined;
  return within(
    {
      from: Number(first),
      to: last === '' ? size - 1 : Math.min(Number(last), size - 1),
    },
    size,
  );
}

const within = (range: ByteRange, size: number): ByteRange | 'unsatisfiable' =>
  range.from < size ? range : 'unsatisfiable';

/**
 * True if a list such as `"a", W/"b"` or `*` contains the tag. Weak comparison, as
 * `If-None-Match` requires.
 */
export function containsTag(header: string | undefined, etag: string): boolean {
  const tags = (header ?? '').split(',').map(tag => tag.trim().replace(/^W\//, ''));
  return tags.includes('*') || tags.includes(etag);
}

/**
 * Sends a file or the requested range. Files never change, so their digest is their ETag.
 * A slow download has no timeout; reading stops when the client disconnects.
 */
async function sendContent(blobs: BlobStore, file: StoredFile, reply: FastifyReply): Promise<void> {
  const { request } = reply;
  const etag = `"${file.sha256}"`;
  void reply.headers({
    etag,
    'accept-ranges': 'bytes',
    'cache-control': 'private, no-cache',
  });
  if (containsTag(request.headers['if-none-match'], etag)) return void reply.code(304).send();
  const range = rangeOf(request, etag, file.bytes);
  if (range === 'unsatisfiable') {
    void reply.header('content-range', `bytes */${file.bytes}`);
    throw new DomainError('range_not_satisfiable', `The file has ${file.bytes} bytes.`, {
      param: 'Range',
    });
  }
  describe(reply, file, range);
  // Fastify keeps `content-length` for an empty stream; for an empty string it
  // would send 0.
  if (request.method === 'HEAD') return void reply.send(Readable.from([]));
  void reply.send(await opened(blobs.read(file.blobKey, range)));
}

/** With an `If-Range` of another ETag, the whole file is sent. */
function rangeOf(
  { headers }: FastifyRequest,
  etag: string,
  size: number,
): ByteRange | 'unsatisfiable' | undefined {
  const condition = headers['if-range'];
  return condition === undefined || condition === etag ? byteRange(headers.range, size) : undefined;
}

function describe(
  reply: FastifyReply,
  { filename, bytes }: StoredFile,
  range: ByteRange | undefined,
): void {
  const { from, to } = range ?? { from: 0, to: bytes - 1 };
  if (range) void reply.code(206).header('content-range', `bytes ${from}-${to}/${bytes}`);
  void reply.headers({
    'content-type': 'application/octet-stream',
    'content-length': to - from + 1,
    'content-disposition': `attachment; filename*=UTF-8''${encodeURIComponent(wellFormed(filename))}`,
    'x-content-type-options': 'nosniff',
  });
}

/** Reads the first bytes, so that a missing blob is detected before headers are sent. */
async function opened(bytes: AsyncIterable<Uint8Array>): Promise<Readable> {
  const iterator = bytes[Symbol.asyncIterator]();
  const first = await iterator.next().catch((error: unknown) => {
    if (!(error instanceof BlobMissing)) throw error;
    throw new DomainError('file_not_found', 'The bytes of the file no longer exist.', {
      param: 'id',
      cause: error,
    });
  });
  const stream = Readable.from(following(first, iterator), { objectMode: false });
  // Needed if the stream is closed before the generator has run.
  stream.once('close', () => void iterator.return?.());
  return stream;
}

async function* following(
  first: IteratorResult<Uint8Array>,
  iterator: AsyncIterator<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  for (let step = first; !step.done; step = await iterator.next()) yield step.value;
}

/** Replaces lone surrogates, which cannot be encoded. */
const wellFormed = (text: string): string => Buffer.from(text).toString();

type Uploaded = WrittenBytes & { readonly filename: string };

/** Files of a tenant; those of other tenants are reported as unknown. */
@Injectable()
export class FilesService {
  constructor(
    private readonly files: FileStore,
    private readonly jobs: JobStore,
    @Inject(API_BLOBS) private readonly blobs: BlobStore,
    private readonly settings: Settings,
    private readonly writer: FileWriter,
  ) {}

  /**
   * Limits are checked during the upload if the purpose is already known, and always
   * at the end.
   */
  create(tenant: string, form: FormSource): Promise<StoredFile> {
    const { maxBytes } = this.settings.files;
    const take = async (
      bytes: AsyncIterable<Buffer>,
      before: Fields,
      part: { readonly filename: string | undefined; readonly fieldname: string },
    ): Promise<Uploaded> => {
      if ('purpose' in before || 'expires_after' in before)
        parseDto(FileCreateDto, { purpose: 'batch', ...before });
      const written = await this.writer.write(
        tenant,
        bytes,
        limitsOf(before.purpose, this.settings, maxBytes),
      );
      // Undefined for an application/octet-stream part without one, despite the
      // parser's types.
      const filename = (part.filename ?? part.fieldname).slice(0, MAX_NAME_CHARS);
      return { ...written, filename };
    };
    const rules = { part: 'file', maxBytes, take };
    return readFileForm(form, this.writer, rules, (uploaded, fields) =>
      this.#publish(tenant, uploaded, fields),
    );
  }

  async find(tenant: string, id: string, param = 'id'): Promise<StoredFile> {
    const file = await this.files.find(tenant, id);
    if (file && (file.expiresAtMs ?? Infinity) > (await this.files.clockMs())) return file;
    throw new DomainError(
      'file_not_found',
      `There is no file \`${id}\`; it may have been deleted or have expired.`,
      {
        param,
      },
    );
  }

  list(tenant: string, query: FileListQueryDto): Promise<Page<StoredFile> | undefined> {
    return this.files.list(tenant, query);
  }

  async sendContent(tenant: string, id: string, reply: FastifyReply): Promise<void> {
    await sendContent(this.blobs, await this.find(tenant, id), reply);
  }

  async remove(tenant: string, id: string): Promise<void> {
    const file = await this.find(tenant, id);
    const users = await this.jobs.usersOf(id);
    if (users.length > 0) {
      const message = `The file is used by ${users.join(', ')}; cancel it or wait for its end.`;
      throw new DomainError('file_in_use', message, { param: 'id' });
    }
    await this.files.remove(tenant, id);
    await this.writer.forget(file);
  }

  /** The failed lines of a batch, as the input of another one. @throws DomainError */
  ofFailedLines(job: BatchJob): Promise<StoredFile> {
    return fileOfFailedLines(job, this.files, this.blobs, this.writer);
  }

  #publish(tenant: string, uploaded: Uploaded, fields: Fields): Promise<StoredFile> {
    const { purpose, expires_after: expiry } = parseDto(FileCreateDto, fields);
    uploaded.measured.assertWithin(limitsOf(purpose, this.settings, this.settings.files.maxBytes));
    const { filename } = uploaded;
    return this.writer.publish(tenant, uploaded, {
      purpose,
      filename,
      expiresAfterS: expiry?.seconds,
    });
  }
}

/** Longer names are truncated. */
const MAX_NAME_CHARS = 255;

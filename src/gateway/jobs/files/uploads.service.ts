import { createHash } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { type UploadCompleteDto } from '../../../contracts/openai/upload-complete.dto.js';
import { PART_BYTES, type UploadCreateDto } from '../../../contracts/openai/upload.dto.js';
import { DomainError } from '../../../core/errors/domain-error.js';
import {
  type BlobStore,
  type StoredFile,
  type Upload,
  type UploadPart,
} from '../../../core/jobs/job.ports.js';
import { timeOrderedId } from '../../../platform/clock/time-ordered-id.js';
import { Settings } from '../../../platform/config/settings.js';
import { FileStore, UploadStore } from '../../../platform/database/file-store.js';
import { hashed } from '../../../platform/storage/durable-files.js';
import { fileTooLarge } from '../../../platform/storage/size-limit.js';
import { type FormSource } from '../../http/multipart-form.js';
import { API_BLOBS } from '../shared/counted-blobs.js';
import { readFileForm } from './file-form.js';
import { FileWriter, type WrittenBytes, limitsOf } from './file-writer.js';

/** An upload that is not completed within an hour is forgotten, as OpenAI's. */
const LIFETIME_MS = 3_600_000;

/**
 * Files that come in parts. Parts are blobs of their own; completing makes one file of
 * them and checks it as a whole.
 */
@Injectable()
export class UploadsService {
  constructor(
    private readonly uploads: UploadStore,
    private readonly files: FileStore,
    @Inject(API_BLOBS) private readonly blobs: BlobStore,
    private readonly settings: Settings,
    private readonly writer: FileWriter,
  ) {}

  /**
   * What can never become a file is refused before its first byte. @throws
   * DomainError `file_too_large`
   */
  async create(tenant: string, dto: UploadCreateDto): Promise<Upload> {
    const { maxBytes } = this.#limits(dto.purpose);
    if (dto.bytes > maxBytes) throw fileTooLarge(maxBytes);
    const nowMs = await this.uploads.clockMs();
    const upload: Upload = {
      id: timeOrderedId('upload_', nowMs),
      tenant,
      purpose: dto.purpose,
      filename: dto.filename,
      mimeType: dto.mime_type,
      bytes: dto.bytes,
      status: 'pending',
      createdAtMs: nowMs,
      expiresAtMs: nowMs + LIFETIME_MS,
      fileExpiresAfterS: dto.expires_after?.seconds,
    };
    await this.uploads.create(upload);
    return upload;
  }

  async addPart(tenant: string, id: string, form: FormSource): Promise<UploadPart> {
    const upload = await this.#pending(tenant, id);
    const limits = { maxBytes: PART_BYTES, maxLines: Infinity };
    const take = (bytes: AsyncIterable<Buffer>) => this.writer.write(tenant, bytes, limits);
    const rules = { part: 'data', maxBytes: PART_BYTES, take };
    return readFileForm(form, this.writer, rules, written => this.#partOf(upload, written));
  }

  /**
   * Parts that are not named are left out. An upload that does not check stays pending:
   * the right parts can follow.
   */
  async complete(
    tenant: string,
    id: string,
    dto: UploadCompleteDto,
  ): Promise<{ readonly upload: Upload; readonly file: StoredFile }> {
    const upload = await this.#pending(tenant, id);
    const all = await this.uploads.parts(id);
    const written = await this.#join(upload, chosen(all, dto.part_ids), dto.md5);
    const { purpose, filename, fileExpiresAfterS: expiresAfterS } = upload;
    const file = await this.writer.publish(tenant, written, {
      purpose,
      filename,
      expiresAfterS,
    });
    if (!(await this.uploads.end(id, 'completed', file.id))) {
      // Another request completed or cancelled it meanwhile: there must not be two files
      // of one upload.
      await this.files.remove(tenant, file.id);
      await this.writer.forget(file);
      throw notPending(upload.id);
    }
    await Promise.all(all.map(part => this.writer.forget(part)));
    return { upload: { ...upload, status: 'completed', fileId: file.id }, file };
  }

  async cancel(tenant: string, id: string): Promise<Upload> {
    const upload = await this.#pending(tenant, id);
    const parts = await this.uploads.parts(id);
    if (!(await this.uploads.end(id, 'cancelled'))) throw notPending(id);
    await Promise.all(parts.map(part => this.writer.forget(part)));
    return { ...upload, status: 'cancelled' };
  }

  #limits(purpose: string) {
    return limitsOf(purpose, this.settings, this.settings.files.maxUploadBytes);
  }

  async #pending(tenant: string, id: string): Promise<Upload> {
    const upload = await this.uploads.find(tenant, id);
    if (!upload)
      throw new DomainError('upload_not_found', `There is no upload \`${id}\`.`, {
        param: 'id',
      });
    const isOver = upload.expiresAtMs <= (await this.uploads.clockMs());
    if (upload.status !== 'pending' || isOver) throw notPending(id);
    return upload;
  }

  async #partOf(
    { id: uploadId }: Upload,
    { id, blobKey, measured }: WrittenBytes,
  ): Promise<UploadPart> {
    this.writer.assertFresh(id);
    const createdAtMs = Date.now();
    const part = {
      id: timeOrderedId('part_', createdAtMs),
      uploadId,
      blobKey,
      bytes: measured.size,
      createdAtMs,
    };
    if (await this.uploads.addPart(part)) return part;
    throw notPending(uploadId);
  }

  async #join(
    upload: Upload,
    parts: readonly UploadPart[],
    md5: string | undefined,
  ): Promise<WrittenBytes> {
    const sum = parts.reduce((bytes, part) => bytes + part.bytes, 0);
    if (sum !== upload.bytes)
      throw incomplete(`the parts have ${sum} bytes, and ${upload.bytes} were announced`);
    const digest = createHash('md5');
    const bytes = this.blobs.readAll(parts.map(({ blobKey }) => blobKey));
    const written = await this.writer.write(
      upload.tenant,
      hashed(bytes, digest),
      this.#limits(upload.purpose),
      upload.id,
    );
    const found = digest.digest('hex');
    if (md5 === undefined || md5.toLowerCase() === found) return written;
    await this.writer.forget(written);
    throw incomplete(`the md5 of the bytes is ${found}`, 'md5');
  }
}

function chosen(all: readonly UploadPart[], ids: readonly string[]): readonly UploadPart[] {
  const byId = new Map(all.map(part => [part.id, part]));
  const known = ids.map(id => {
    const part = byId.get(id);
    // Taken once: a part cannot stand in the file twice.
    byId.delete(id);
    return part ?? id;
  });
  const unknown = known.find(entry => typeof entry === 'string');
  if (unknown === undefined) return known as readonly UploadPart[];
  throw incomplete(`\`${unknown}\` is no part of this upload, or is named twice`, 'part_ids');
}

const incomplete = (why: string, param = 'part_ids'): DomainError =>
  new DomainError('upload_incomplete', `The upload cannot be completed: ${why}.`, {
    param,
  });

const notPending = (id: string): DomainError =>
  new DomainError(
    'upload_not_pending',
    `The upload \`${id}\` was completed or cancelled, or its hour is over.`,
    {
      param: 'id',
    },
  );

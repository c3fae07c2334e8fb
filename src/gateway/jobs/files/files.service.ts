import { Inject, Injectable } from '@nestjs/common';
import { type FastifyReply } from 'fastify';
import {
  FileCreateDto,
  type FileListQueryDto,
} from '../../../contracts/openai/file.dto.js';
import {
  type BlobStore,
  type Page,
  type StoredFile,
} from '../../../core/jobs/job.ports.js';
import { DomainError } from '../../../core/errors/domain-error.js';
import { SETTINGS, type Settings } from '../../../platform/config/settings.js';
import { parseDto } from '../../http/dto-validation.js';
import { type FormSource } from '../../http/multipart-form.js';
import { API_BLOBS } from '../shared/counted-blobs.js';
import { sendContent } from './file-content.js';
import { fileBytes, type Fields, readFileForm } from './file-form.js';
import { FileWriter, type WrittenBytes } from './file-writer.js';
import { limitsOf } from './measured-bytes.js';
import { FileStore } from '../../../platform/database/file-store.js';
import { JobStore } from '../../../platform/database/job-store.js';

type Uploaded = WrittenBytes & { readonly filename: string };

/** Files of a tenant; those of other tenants are reported as unknown. */
@Injectable()
export class FilesService {
  constructor(
    private readonly files: FileStore,
    private readonly jobs: JobStore,
    @Inject(API_BLOBS) private readonly blobs: BlobStore,
    @Inject(SETTINGS) private readonly settings: Settings,
    private readonly writer: FileWriter,
  ) {}

  /**
   * Limits are checked during the upload if the purpose is already known, and always
   * at the end.
   */
  create(tenant: string, form: FormSource): Promise<StoredFile> {
    const { maxBytes } = this.settings.files;
    const take = async (
      part: Parameters<typeof fileBytes>[0],
      before: Fields,
    ): Promise<Uploaded> => {
      if ('purpose' in before || 'expires_after' in before)
        parseDto(FileCreateDto, { purpose: 'batch', ...before });
      const written = await this.writer.write(
        tenant,
        fileBytes(part),
        limitsOf(before.purpose, this.settings, maxBytes),
      );
      return { ...written, filename: nameOf(part).slice(0, MAX_NAME_CHARS) };
    };
    const rules = {
      part: 'file',
      maxBytes,
      take,
      forget: (uploaded: Uploaded) => this.writer.forget(uploaded),
    };
    return readFileForm(form, rules, (uploaded, fields) =>
      this.#publish(tenant, uploaded, fields),
    );
  }

  async find(tenant: string, id: string, param = 'id'): Promise<StoredFile> {
    const file = await this.files.find(tenant, id);
    if (file && (file.expiresAtMs ?? Infinity) > Date.now()) return file;
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

  #publish(tenant: string, uploaded: Uploaded, fields: Fields): Promise<StoredFile> {
    const { purpose, expires_after: expiry } = parseDto(FileCreateDto, fields);
    uploaded.measured.assertWithin(
      limitsOf(purpose, this.settings, this.settings.files.maxBytes),
    );
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

/**
 * @param filename undefined for an application/octet-stream part without one, despite
 *   the parser's types
 */
const nameOf = ({
  filename,
  fieldname,
}: {
  filename: string | undefined;
  fieldname: string;
}): string => filename ?? fieldname;

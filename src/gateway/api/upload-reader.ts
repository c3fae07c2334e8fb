import { Injectable, Inject } from '@nestjs/common';
import { type MultipartFile } from '@fastify/multipart';
import { type FastifyRequest } from 'fastify';
import { DomainError } from '../../core/shared/domain-error.js';
import { SETTINGS, type Settings } from '../../platform/config/settings.js';
import { Spool } from '../../platform/storage/spool.js';
import { fileTooLarge } from '../../platform/storage/spool-writer.js';
import { type SpooledUpload } from '../../platform/storage/spooled-upload.js';
import { FormFields } from './form-fields.js';
import { multipartError } from './multipart-error.js';

export interface Upload {
  readonly fields: Readonly<Record<string, unknown>>;
  readonly filename: string;
  /** The receiver disposes of it. */
  readonly audio: SpooledUpload;
}

/** Room for part headers and text fields around the file, in a declared Content-Length. */
const ENVELOPE_BYTES = 1_048_576;

/** Reads `multipart/form-data` as it arrives: fields are collected, the one file goes to the spool. */
@Injectable()
export class UploadReader {
  constructor(
    private readonly spool: Spool,
    @Inject(SETTINGS) private readonly settings: Settings,
  ) {}

  /**
   * @param beforeFile sees the fields that came before the file and may throw: a bad request is then answered without
   *   taking its audio in.
   * @throws DomainError; nothing stays in the spool.
   */
  async read(request: FastifyRequest, beforeFile: (fields: Upload['fields']) => void): Promise<Upload> {
    this.refuseAtTheDoor(request);
    const form = new FormFields();
    let file: Omit<Upload, 'fields'> | undefined;
    try {
      for await (const part of request.parts()) {
        if (part.type === 'field') form.add(part);
        else file = await this.take(part, file, () => beforeFile(form.values()));
      }
      return { fields: form.values(), ...present(file) };
    } catch (error) {
      await file?.audio.dispose();
      throw multipartError(error);
    }
  }

  private refuseAtTheDoor(request: FastifyRequest): void {
    if (!request.isMultipart()) {
      throw new DomainError('unsupported_media_type', 'Send the audio as multipart/form-data with a `file` part.');
    }
    const { uploadLimitBytes } = this.settings.server;
    if (Number(request.headers['content-length'] ?? 0) > uploadLimitBytes + ENVELOPE_BYTES) {
      throw fileTooLarge(uploadLimitBytes);
    }
  }

  private async take(part: MultipartFile, earlier: unknown, check: () => void): Promise<Omit<Upload, 'fields'>> {
    if (earlier !== undefined) {
      throw new DomainError('too_many_files', 'More than one file was sent; send one per request.', { param: 'file' });
    }
    if (part.fieldname !== 'file') {
      const message = `The audio must be the part named \`file\`; got a file named \`${part.fieldname}\`.`;
      throw new DomainError('missing_required_parameter', message, { param: 'file' });
    }
    check();
    return { filename: part.filename, audio: await this.spool.store(part.file) };
  }
}

function present(file: Omit<Upload, 'fields'> | undefined): Omit<Upload, 'fields'> {
  if (file === undefined) {
    const message = '`file` is required: it must be a part with a filename and the audio as its content.';
    throw new DomainError('missing_required_parameter', message, { param: 'file' });
  }
  if (file.audio.size === 0) {
    throw new DomainError('empty_file', 'The file has 0 bytes.', { param: 'file' });
  }
  return file;
}

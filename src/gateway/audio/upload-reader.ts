import { type MultipartFile } from '@fastify/multipart';
import { Injectable } from '@nestjs/common';
import { DomainError } from '../../core/errors/domain-error.js';
import { Settings } from '../../platform/config/settings.js';
import { fileTooLarge, Spool, type SpooledUpload } from '../../platform/storage/spool.js';
import {
  FormFields,
  formParts,
  type FormSource,
  LONGEST_FORM,
  multipartError,
} from '../http/multipart-form.js';
import { type AudioUrl } from '../worker-pool/worker-task.js';

/**
 * What browsers and proxies take for certain; signed URLs of object stores have
 * about 1000 characters.
 */
const MAX_CHARACTERS = 4096;

/**
 * The form field `file_url`: its form only. Where it leads is checked by the worker
 * that fetches it.
 * @throws DomainError `invalid_value`; the value is not repeated, as it may hold a
 *   signature or a password.
 */
function audioUrl(value: unknown): AudioUrl {
  if (typeof value !== 'string') throw invalid('must be sent once, as text');
  if (value.length > MAX_CHARACTERS) {
    throw invalid(
      `must be at most ${MAX_CHARACTERS} characters long; got ${value.length}`,
    );
  }
  const url = URL.parse(value);
  if (url === null) throw invalid('must be a URL such as https://example.com/speech.mp3');
  const { protocol, username, password } = url;
  if (protocol !== 'http:' && protocol !== 'https:')
    throw invalid(`must be http or https; got ${protocol.slice(0, -1)}`);
  if (username !== '' || password !== '')
    throw invalid('must not hold a user name or password');
  url.hash = '';
  return { url: url.href };
}

/**
 * Last part of the path: a hint for the container, as the name of an uploaded file is.
 */
function filenameOf({ url }: AudioUrl): string {
  const name = new URL(url).pathname.split('/').at(-1) ?? '';
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

const invalid = (rule: string): DomainError =>
  new DomainError('invalid_value', `\`file_url\` ${rule}.`, { param: 'file_url' });

type Fields = Readonly<Record<string, unknown>>;

interface SentFile {
  readonly filename: string;
  /** The receiver disposes of it. */
  readonly audio: SpooledUpload;
}

interface NamedFile {
  readonly filename: string;
  readonly audio: AudioUrl;
}

/**
 * The text fields besides `file_url`, and the audio: exactly one of
 * `file` and `file_url`.
 */
export type AudioForm = (SentFile | NamedFile) & { readonly fields: Fields };

/** How a form is read. */
export interface UploadRules {
  /** Name of the file's part; default `file`. */
  readonly part?: string;
  /** What is stored of the file; default: all of it. */
  readonly receive?: (source: AsyncIterable<Buffer>) => AsyncIterable<Buffer>;
  /**
   * Sees the fields that came before the file and may throw: a bad request is then
   * answered without taking its audio in.
   */
  beforeFile(fields: Fields): void;
}

/**
 * Room for part headers and text fields around the file, in a declared Content-Length.
 */
const ENVELOPE_BYTES = LONGEST_FORM;

/**
 * Reads `multipart/form-data` as it arrives: fields are collected, the one file goes
 * to the spool.
 */
@Injectable()
export class UploadReader {
  constructor(
    private readonly spool: Spool,
    private readonly settings: Settings,
  ) {}

  /** @throws DomainError; nothing stays in the spool. */
  async read(source: FormSource, rules: UploadRules): Promise<AudioForm> {
    const name = rules.part ?? 'file';
    this.#checkHeaders(source, name);
    const form = new FormFields();
    let file: SentFile | undefined;
    try {
      for await (const part of formParts(source, LONGEST_FORM)) {
        if (part.type === 'field') form.add(part);
        else {
          demandOnly(part, name, file);
          refuseBoth(form.values(), rules);
          file = await this.#spoolFile(part, rules);
        }
      }
      const { file_url: url, ...fields } = form.values();
      return { fields, ...present(file, url, name) };
    } catch (error) {
      await file?.audio.dispose();
      throw multipartError(error);
    }
  }

  #checkHeaders(source: FormSource, name: string): void {
    if (!source.isMultipart()) {
      throw new DomainError(
        'unsupported_media_type',
        `Send multipart/form-data with the audio as \`${name}\`, or with \`file_url\`.`,
      );
    }
    const { uploadLimitBytes } = this.settings.server;
    if (
      Number(source.headers['content-length'] ?? 0) >
      uploadLimitBytes + ENVELOPE_BYTES
    ) {
      throw fileTooLarge(uploadLimitBytes);
    }
  }

  async #spoolFile(
    { file, filename }: MultipartFile,
    { receive }: UploadRules,
  ): Promise<SentFile> {
    return { filename, audio: await this.spool.store(receive?.(file) ?? file) };
  }
}

function demandOnly({ fieldname }: MultipartFile, name: string, earlier: unknown): void {
  if (earlier !== undefined) {
    throw new DomainError(
      'too_many_files',
      'More than one file was sent; send one per request.',
      { param: name },
    );
  }
  if (fieldname === name) return;
  const message = `The audio must be the part named \`${name}\`; got a file named \`${fieldname}\`.`;
  throw new DomainError('missing_required_parameter', message, { param: name });
}

/** Checked as early as possible, so that the file is not received. */
function refuseBoth(fields: Fields, rules: UploadRules): void {
  if (fields.file_url !== undefined) throw onlyOne();
  rules.beforeFile(fields);
}

function present(
  file: SentFile | undefined,
  url: unknown,
  name: string,
): SentFile | NamedFile {
  if (file === undefined) return named(url, name);
  if (url !== undefined) throw onlyOne();
  if (file.audio.size === 0) {
    throw new DomainError('empty_file', 'The file has 0 bytes.', { param: name });
  }
  return file;
}

function named(url: unknown, name: string): NamedFile {
  if (url === undefined) {
    const part = 'a part with a filename and the audio as its content';
    const message = `\`${name}\` is required: it must be ${part}; or send \`file_url\`.`;
    throw new DomainError('missing_required_parameter', message, { param: name });
  }
  const audio = audioUrl(url);
  return { filename: filenameOf(audio), audio };
}

const onlyOne = (): DomainError =>
  new DomainError('invalid_value', 'Send `file` or `file_url`, not both.', {
    param: 'file_url',
  });

import { invalidField, missingField } from '@switchyard/engine-api/field-problems.js';
import { type Fields } from '@switchyard/engine-api/is-object.js';
import { DomainError } from '../../core/errors/domain-error.js';
import { type Spool, type SpooledUpload } from '../../platform/storage/upload-spool.js';
import { type AudioUrl } from '../../worker-client/worker-task.js';
import {
  demandForm,
  demandPart,
  fileBytes,
  FormFields,
  formParts,
  type FormSource,
  LONGEST_FORM,
} from '../http/multipart-form.js';

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
    throw invalid(`must be at most ${MAX_CHARACTERS} characters long; got ${value.length}`);
  }
  const url = URL.parse(value);
  if (url === null) throw invalid('must be a URL such as https://example.com/speech.mp3');
  const { protocol, username, password } = url;
  if (protocol !== 'http:' && protocol !== 'https:')
    throw invalid(`must be http or https; got ${protocol.slice(0, -1)}`);
  if (username !== '' || password !== '') throw invalid('must not hold a user name or password');
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

const invalid = (rule: string): DomainError => invalidField('file_url', `\`file_url\` ${rule}.`);

/** How the file of a form is read. */
export interface FileRules {
  /** Name of the file's part; default `file`. */
  readonly part?: string;
  /** What is stored of the file; default: all of it. */
  readonly receive?: (source: AsyncIterable<Buffer>) => AsyncIterable<Buffer>;
}

interface UploadRules extends FileRules {
  readonly limitBytes: number;
  beforeFile(this: void, fields: Fields): void;
}

/**
 * Reads `multipart/form-data` as it arrives: fields are collected, the one file goes
 * to the spool.
 * @param beforeFile sees the fields that came before the file and may throw: a bad
 *   request is then answered without taking its audio in
 * @returns the text fields besides `file_url`, and the audio: of `file`, which the receiver
 *   disposes of, or of `file_url`
 * @throws DomainError; nothing stays in the spool.
 */
export async function readUpload(
  source: FormSource,
  spool: Spool,
  { limitBytes, part: name = 'file', receive, beforeFile }: UploadRules,
) {
  const what = `the audio as \`${name}\`, or with \`file_url\``;
  demandForm(source, limitBytes, LONGEST_FORM, what);
  const form = new FormFields();
  let file: { readonly filename: string; readonly audio: SpooledUpload } | undefined;
  try {
    for await (const part of formParts(source, LONGEST_FORM)) {
      if (part.type === 'field') form.add(part);
      else {
        if (file) throw secondFile(name);
        demandPart(part.fieldname, name, 'audio');
        // Checked as early as possible, so that the file is not received.
        if (form.values.file_url !== undefined) throw onlyOne();
        beforeFile(form.values);
        const bytes = fileBytes(part, limitBytes);
        const audio = await spool.store(receive?.(bytes) ?? bytes);
        file = { filename: part.filename, audio };
      }
    }
    const { file_url: url, ...fields } = form.values;
    if (!file) return { fields, ...linkedAudio(url, name) };
    if (url !== undefined) throw onlyOne();
    if (file.audio.size > 0) return { fields, ...file };
    throw new DomainError('empty_file', 'The file has 0 bytes.', { param: name });
  } catch (error) {
    await file?.audio.dispose();
    throw error;
  }
}

function linkedAudio(url: unknown, name: string) {
  if (url === undefined) throw missingField(name, FILE_RULE);
  const audio = audioUrl(url);
  return { filename: filenameOf(audio), audio };
}

const FILE_RULE =
  ': it must be a part with a filename and the audio as its content; or send `file_url`';

const secondFile = (param: string): DomainError =>
  new DomainError('too_many_files', 'More than one file was sent; send one per request.', {
    param,
  });

const onlyOne = (): DomainError => invalidField('file_url', 'Send `file` or `file_url`, not both.');

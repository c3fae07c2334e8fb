import { type FastifyMultipartOptions, type MultipartFile } from '@fastify/multipart';
import { errorMessage } from '@switchyard/engine-api/error-message.js';
import { type FastifyRequest } from 'fastify';
import { DomainError } from '../../core/errors/domain-error.js';
import { boundedBytes, fileTooLarge } from '../../platform/storage/size-limit.js';

/** A failure of the form or of the connection; what fails here is no fault of the caller's. */
const unreadable = (error: unknown): DomainError =>
  error instanceof DomainError
    ? error
    : malformed(`The multipart body cannot be read: ${errorMessage(error)}.`, error);

/** A request whose form is read as it arrives. */
export type FormSource = Pick<FastifyRequest, 'headers' | 'isMultipart' | 'parts' | 'raw'>;

/**
 * Before anything of a form is read. @param mostBytes of its file @param besides bytes of
 * everything else @param what has to be sent
 * @throws DomainError `unsupported_media_type` or `file_too_large`
 */
export function demandForm(
  source: FormSource,
  mostBytes: number,
  besides: number,
  what: string,
): void {
  if (!source.isMultipart())
    throw new DomainError('unsupported_media_type', `Send multipart/form-data with ${what}.`);
  if (Number(source.headers['content-length'] ?? 0) > mostBytes + besides)
    throw fileTooLarge(mostBytes);
}

/** @param what the file is @throws DomainError `missing_required_parameter` */
export function demandPart(fieldname: string, name: string, what: string): void {
  if (fieldname === name) return;
  const message = `The ${what} must be the part named \`${name}\`; got a file named \`${fieldname}\`.`;
  throw new DomainError('missing_required_parameter', message, { param: name });
}

/** The value of a text part. It is never parsed here, whatever its Content-Type says. */
interface FieldPart {
  readonly type: 'field';
  readonly fieldname: string;
  readonly value: string;
  readonly valueTruncated: boolean;
}

/** Longest name of a part, brackets included. */
const LONGEST_NAME = 128;
/** RFC 2046 allows boundaries of 70 characters. */
const LONGEST_CONTENT_TYPE = 256;
/** Bytes that the parser may still hold when they are counted. */
const IN_FLIGHT_BYTES = 262_144;
const JSON_TYPE = /^application\/json\b/i;

/**
 * True for parts that the parser returns as a stream: files, and JSON, which it
 * would otherwise parse itself at any size and depth. The value of busboy's option
 * of the same name.
 */
const isPartAFile = (
  _name: string | undefined,
  type: string | undefined,
  filename: string | undefined,
): boolean =>
  filename !== undefined || type === 'application/octet-stream' || JSON_TYPE.test(type ?? '');

/**
 * Parts of a form as they arrive. Everything besides the file counts against
 * `mostBytes`: values, names, part headers, parts that the parser skips, and what
 * precedes and follows the parts.
 *
 * @throws DomainError `invalid_multipart` for a form that is malformed or
 *   beyond these bounds.
 */
export async function* formParts(
  source: FormSource,
  mostBytes: number,
): AsyncGenerator<FieldPart | MultipartFile> {
  if ((source.headers['content-type'] ?? '').length > LONGEST_CONTENT_TYPE)
    throw malformed(`The Content-Type has more than ${LONGEST_CONTENT_TYPE} characters.`);
  let bytes = 0;
  let file: MultipartFile['file'] | undefined;
  const { promise: exceeded, reject: exceed } = Promise.withResolvers<never>();
  // Nothing may wait at that moment: the next part checks.
  exceeded.catch(() => undefined);
  const count = ({ length }: Buffer): void => {
    bytes += length;
    if (bytes - (file?.bytesRead ?? 0) > mostBytes + IN_FLIGHT_BYTES)
      exceed(malformed(`The form has more than ${mostBytes} bytes besides its file.`));
  };
  source.raw.on('data', count);
  const parts = source.parts()[Symbol.asyncIterator]();
  try {
    for (;;) {
      const step = await Promise.race([parts.next(), exceeded]);
      if (step.done) return;
      const part = step.value;
      demandName(part.fieldname);
      const field = await fieldOf(part as FieldPart | MultipartFile, mostBytes);
      if (!field) ({ file } = part as MultipartFile);
      yield field ?? (part as MultipartFile);
    }
  } catch (error) {
    throw unreadable(error);
  } finally {
    source.raw.off('data', count);
  }
}

/** Undefined for a file. JSON has come as a stream. */
async function fieldOf(
  part: FieldPart | MultipartFile,
  mostBytes: number,
): Promise<FieldPart | undefined> {
  if (part.type === 'field') return part;
  const { fieldname, file, filename, mimetype } = part;
  if ((filename as string | undefined) !== undefined || !JSON_TYPE.test(mimetype)) return undefined;
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of file) {
    bytes += (chunk as Buffer).length;
    if (bytes > mostBytes) return { type: 'field', fieldname, value: '', valueTruncated: true };
    chunks.push(chunk as Buffer);
  }
  return {
    type: 'field',
    fieldname,
    value: Buffer.concat(chunks).toString('utf8'),
    valueTruncated: false,
  };
}

/**
 * @param name undefined where the part has none, whatever the parser's types say
 * @throws DomainError `invalid_multipart`
 */
function demandName(name = ''): void {
  if (name === '') throw malformed('A part of the form has no name.');
  if (name.length <= LONGEST_NAME) return;
  const rule = `names of parts must have at most ${LONGEST_NAME} characters`;
  throw malformed(
    `The form is not accepted: ${rule}; got ${name.length}, beginning with "${name.slice(0, 32)}".`,
  );
}

const malformed = (message: string, cause?: unknown): DomainError =>
  new DomainError('invalid_multipart', message, { cause });

/**
 * The bytes of a file part, as they arrive.
 * @throws DomainError `file_too_large`, or `invalid_multipart` where the form breaks off
 */
export async function* fileBytes(
  { file }: MultipartFile,
  mostBytes = Infinity,
): AsyncGenerator<Buffer> {
  try {
    yield* boundedBytes(file as AsyncIterable<Buffer>, mostBytes);
  } catch (error) {
    throw unreadable(error);
  }
}

/** Audio of one known speaker: 10 seconds of 48 kHz stereo PCM with its header. */
export const MAX_REFERENCE_BYTES = 2_097_152;
/** Data URLs of voices are the only long fields; in base64, with the prefix. */
const LONGEST_FIELD = Math.ceil(MAX_REFERENCE_BYTES / 3) * 4 + 256;
/**
 * Any other field: a prompt, a chunking strategy. Also all text of a form that
 * has no voices.
 */
export const LONGEST_TEXT = 1_048_576;
/** Room for the text fields of one form: four voices and a long prompt. */
export const LONGEST_FORM = 4 * LONGEST_FIELD + LONGEST_TEXT;

/** Headers of one part: its name, the name of its file, its type. */
const PART_HEADER_BYTES = 16_384;

const FORM_LIMITS = {
  fileSize: Number.MAX_SAFE_INTEGER,
  fieldSize: LONGEST_FIELD,
  fields: 100,
  parts: 110,
  headerPairs: 50,
  headerSize: PART_HEADER_BYTES,
};

/**
 * Limits of a form besides its file, which `fileBytes` counts. The parser's own file limit
 * is off: it would silently cut the file where `fileBytes` answers 413.
 */
export const MULTIPART_OPTIONS: FastifyMultipartOptions = {
  limits: FORM_LIMITS,
  throwFileSizeLimit: false,
  isPartAFile,
};

/**
 * Text fields of a multipart form. `x` and `x[]` are spellings of the field `x`, a list
 * when they came more than once; `x[key]` is a key of the object `x`. Empty fields count
 * as absent: HTML forms and some clients send every field they know.
 */
export class FormFields {
  readonly values = Object.create(null) as Record<string, unknown>;
  readonly #objects = new Map<string, Record<string, unknown>>();
  #length = 0;

  /** @throws DomainError `invalid_value` for a value, or a form, above its limit. */
  add({ fieldname, value, valueTruncated }: Omit<FieldPart, 'type'>): void {
    const [name, key] = nameAndKey(fieldname);
    this.#length += value.length;
    const longest = name === 'known_speaker_references' ? LONGEST_FIELD : LONGEST_TEXT;
    if (valueTruncated || value.length > longest || this.#length > LONGEST_FORM) {
      throw new DomainError('invalid_value', `\`${name}\` is too long.`, {
        param: name,
      });
    }
    if (value === '') return;
    if (key === '' || /^\d+$/.test(key)) this.#push(name, value);
    else this.#set(name, key, value);
  }

  #push(name: string, value: unknown): void {
    const earlier = this.values[name];
    if (Array.isArray(earlier)) earlier.push(value);
    else this.values[name] = earlier === undefined ? value : [earlier, value];
  }

  /**
   * The object is added once to the field's values, so that it and a plain value together
   * count as two.
   */
  #set(name: string, key: string, value: unknown): void {
    const known = this.#objects.get(name);
    const object = known ?? (Object.create(null) as Record<string, unknown>);
    object[key] = key in object ? [object[key], value].flat() : value;
    if (known) return;
    this.#objects.set(name, object);
    this.#push(name, object);
  }
}

/** `x[key]` → x, key; `x[]` and `x` → x and nothing. */
function nameAndKey(fieldname: string): readonly [name: string, key: string] {
  const open = fieldname.endsWith(']') ? fieldname.lastIndexOf('[') : -1;
  return open < 0 ? [fieldname, ''] : [fieldname.slice(0, open), fieldname.slice(open + 1, -1)];
}

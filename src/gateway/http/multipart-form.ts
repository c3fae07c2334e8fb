import { type MultipartFile } from '@fastify/multipart';
import { type FastifyRequest } from 'fastify';
import { DomainError } from '../../core/errors/domain-error.js';

/**
 * Converts a failure while a form was read. Failures of the form or the connection are
 * `invalid_multipart`; those of the disk are left unchanged and become `internal_error`.
 */
export function multipartError(error: unknown): unknown {
  if (error instanceof DomainError) return error;
  const { message, code, syscall } = error as NodeJS.ErrnoException;
  if (syscall !== undefined && code !== 'ECONNRESET') return error;
  return new DomainError(
    'invalid_multipart',
    `The multipart body cannot be read: ${message}.`,
    { cause: error },
  );
}

/** A request whose form is read as it arrives. */
export type FormSource = Pick<
  FastifyRequest,
  'headers' | 'isMultipart' | 'parts' | 'raw'
>;

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
export const isPartAFile = (
  _name: string | undefined,
  type: string | undefined,
  filename: string | undefined,
): boolean =>
  filename !== undefined ||
  type === 'application/octet-stream' ||
  JSON_TYPE.test(type ?? '');

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
  const counter = new FormByteCounter(source, mostBytes);
  const parts = source.parts()[Symbol.asyncIterator]();
  try {
    for (;;) {
      const step = await Promise.race([parts.next(), counter.exceeded]);
      if (step.done) return;
      const part = step.value;
      demandName(part.fieldname);
      if (part.type === 'field') yield part as FieldPart;
      else if (isJson(part)) yield await fieldOf(part, mostBytes);
      else {
        counter.file = part;
        yield part;
      }
    }
  } catch (error) {
    throw multipartError(error);
  } finally {
    counter.stop();
  }
}

/** Counts the bytes of a body that are not the file's. */
class FormByteCounter {
  /** Rejects when there are too many. */
  readonly exceeded: Promise<never>;
  readonly stop: () => void;
  file: MultipartFile | undefined;
  #bytes = 0;

  constructor({ raw }: FormSource, mostBytes: number) {
    let exceed: (error: DomainError) => void;
    this.exceeded = new Promise((_resolve, reject) => (exceed = reject));
    // Nothing may wait at that moment: the next part checks.
    this.exceeded.catch(() => undefined);
    const count = ({ length }: Buffer): void => {
      this.#bytes += length;
      if (this.#bytes - (this.file?.file.bytesRead ?? 0) <= mostBytes + IN_FLIGHT_BYTES)
        return;
      exceed(malformed(`The form has more than ${mostBytes} bytes besides its file.`));
    };
    raw.on('data', count);
    this.stop = () => void raw.off('data', count);
  }
}

const isJson = ({ filename, mimetype }: MultipartFile): boolean =>
  (filename as string | undefined) === undefined && JSON_TYPE.test(mimetype);

async function fieldOf(
  { fieldname, file }: MultipartFile,
  mostBytes: number,
): Promise<FieldPart> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of file) {
    bytes += (chunk as Buffer).length;
    if (bytes > mostBytes)
      return { type: 'field', fieldname, value: '', valueTruncated: true };
    chunks.push(chunk as Buffer);
  }
  return {
    type: 'field',
    fieldname,
    value: Buffer.concat(chunks).toString('utf8'),
    valueTruncated: false,
  };
}

/** @param name undefined where the part has none, whatever the parser's types say */
function demandName(name: string | undefined): void {
  if (name === undefined || name === '')
    throw malformed('A part of the form has no name.');
  if (name.length <= LONGEST_NAME) return;
  const rule = `names of parts must have at most ${LONGEST_NAME} characters`;
  throw malformed(
    `The form is not accepted: ${rule}; got ${name.length}, beginning with "${name.slice(0, 32)}".`,
  );
}

const malformed = (message: string): DomainError =>
  new DomainError('invalid_multipart', message);

/** Audio of one known speaker: 10 seconds of 48 kHz stereo PCM with its header. */
export const MAX_REFERENCE_BYTES = 2_097_152;
/** Data URLs of voices are the only long fields; in base64, with the prefix. */
export const LONGEST_FIELD = Math.ceil(MAX_REFERENCE_BYTES / 3) * 4 + 256;
/**
 * Any other field: a prompt, a chunking strategy. Also all text of a form that
 * has no voices.
 */
export const LONGEST_TEXT = 1_048_576;
/** Room for the text fields of one form: four voices and a long prompt. */
export const LONGEST_FORM = 4 * LONGEST_FIELD + LONGEST_TEXT;

/**
 * Text fields of a multipart form. `x` and `x[]` are spellings of the field `x`, a list
 * when they came more than once; `x[key]` is a key of the object `x`. Empty fields count
 * as absent: HTML forms and some clients send every field they know.
 */
export class FormFields {
  readonly #values = new Map<string, unknown[]>();
  readonly #objects = new Map<string, Record<string, unknown>>();
  #length = 0;

  /** @throws DomainError `invalid_value` for a value, or a form, above its limit. */
  add({ fieldname, value, valueTruncated }: Omit<FieldPart, 'type'>): void {
    const [name, key] = nameAndKey(fieldname);
    this.#length += value.length;
    const longest = name === 'known_speaker_references' ? LONGEST_FIELD : LONGEST_TEXT;
    if (valueTruncated || value.length > longest || this.#length > LONGEST_FORM) {
      throw new DomainError('invalid_value', `\`${name}\` is too long.`, { param: name });
    }
    if (value === '') return;
    if (key === '' || /^\d+$/.test(key)) this.#push(name, value);
    else this.#set(name, key, value);
  }

  #push(name: string, value: unknown): void {
    const earlier = this.#values.get(name);
    if (earlier) earlier.push(value);
    else this.#values.set(name, [value]);
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

  values(): Readonly<Record<string, unknown>> {
    return Object.fromEntries(
      [...this.#values].map(([name, values]) => [
        name,
        values.length === 1 ? values[0] : values,
      ]),
    );
  }
}

/** `x[key]` → x, key; `x[]` and `x` → x and nothing. */
function nameAndKey(fieldname: string): readonly [name: string, key: string] {
  const open = fieldname.endsWith(']') ? fieldname.lastIndexOf('[') : -1;
  return open < 0
    ? [fieldname, '']
    : [fieldname.slice(0, open), fieldname.slice(open + 1, -1)];
}

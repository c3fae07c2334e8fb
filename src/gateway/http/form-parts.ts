import { type MultipartFile } from '@fastify/multipart';
import { type FastifyRequest } from 'fastify';
import { DomainError } from '../../core/shared/domain-error.js';
import { multipartError } from './multipart-error.js';

/** The value of a text part. It is never parsed here, whatever its Content-Type says. */
export interface FieldPart {
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

type PartHeader = string | undefined;

/**
 * What the parser hands over as a stream: files, and JSON, which it would otherwise parse by itself, at any size and depth.
 * The value of busboy's option of the same name.
 */
export const isPartAFile = (_name: PartHeader, type: PartHeader, filename: PartHeader): boolean =>
  filename !== undefined || type === 'application/octet-stream' || JSON_TYPE.test(type ?? '');

/**
 * Parts of a form as they arrive. Everything besides the file counts against `mostBytes`: values, names, part headers, parts
 * that the parser skips, and what precedes and follows the parts.
 *
 * @throws DomainError `invalid_multipart` for a form that is malformed or beyond these bounds.
 */
export async function* formParts(
  request: FastifyRequest,
  mostBytes: number,
): AsyncGenerator<FieldPart | MultipartFile> {
  if ((request.headers['content-type'] ?? '').length > LONGEST_CONTENT_TYPE)
    throw malformed(`The Content-Type has more than ${LONGEST_CONTENT_TYPE} characters.`);
  const counter = new FormByteCounter(request, mostBytes);
  const parts = request.parts()[Symbol.asyncIterator]();
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

  constructor({ raw }: FastifyRequest, mostBytes: number) {
    let exceed: (error: DomainError) => void;
    this.exceeded = new Promise((_resolve, reject) => (exceed = reject));
    // Nobody may be waiting at that moment: the next part asks.
    this.exceeded.catch(() => undefined);
    const count = ({ length }: Buffer): void => {
      this.#bytes += length;
      if (this.#bytes - (this.file?.file.bytesRead ?? 0) <= mostBytes + IN_FLIGHT_BYTES) return;
      exceed(malformed(`The form has more than ${mostBytes} bytes besides its file.`));
    };
    raw.on('data', count);
    this.stop = () => void raw.off('data', count);
  }
}

const isJson = ({ filename, mimetype }: MultipartFile): boolean =>
  (filename as string | undefined) === undefined && JSON_TYPE.test(mimetype);

async function fieldOf({ fieldname, file }: MultipartFile, mostBytes: number): Promise<FieldPart> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of file) {
    bytes += (chunk as Buffer).length;
    if (bytes > mostBytes) return { type: 'field', fieldname, value: '', valueTruncated: true };
    chunks.push(chunk as Buffer);
  }
  return { type: 'field', fieldname, value: Buffer.concat(chunks).toString('utf8'), valueTruncated: false };
}

/** @param name undefined where the part has none, whatever the parser's types say */
function demandName(name: string | undefined): void {
  if (name === undefined || name === '') throw malformed('A part of the form has no name.');
  if (name.length <= LONGEST_NAME) return;
  const rule = `names of parts must have at most ${LONGEST_NAME} characters`;
  throw malformed(`The form is not accepted: ${rule}; got ${name.length}, beginning with "${name.slice(0, 32)}".`);
}

const malformed = (message: string): DomainError => new DomainError('invalid_multipart', message);

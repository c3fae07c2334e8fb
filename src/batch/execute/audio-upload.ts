import { Readable } from 'node:stream';
import { writeJson } from '@switchyard/engine-api/exact-numbers.js';
import { type Fields } from '@switchyard/engine-api/is-object.js';
import { type FormField, formFrame } from '../../contracts/formats/form-frame.js';
import { DomainError } from '../../core/errors/domain-error.js';
import { type BlobStore } from '../../core/jobs/job.ports.js';
import { type FileStore } from '../../platform/database/file-store.js';
import { type SafeFetch } from '../../platform/http/safe-fetch.js';
import { type LineContent } from './line-target.js';

interface FormFile {
  readonly name: string;
  readonly bytes: number;
  /** Asked for once per attempt. */
  open(): AsyncIterable<Uint8Array>;
}

/** A form with one file, of known length: sent as it is read. */
export function multipartForm(fields: readonly FormField[], file?: FormFile): LineContent {
  const { contentType, head, tail } = formFrame(fields, file?.name);
  return {
    contentType,
    bytes: head.length + (file?.bytes ?? 0) + tail.length,
    async *body() {
      yield head;
      if (file) yield* file.open();
      yield tail;
    },
  };
}

/** A line that cannot be sent. It becomes an error line without an answer. */
export class LineProblem extends Error {
  constructor(
    readonly code: string,
    message: string,
    readonly param?: string,
  ) {
    super(message);
    this.name = 'LineProblem';
  }
}

/** Fields that locate the audio of a line; exactly one must be set. */
const SOURCES = ['file_id', 'file_url', 'audio'] as const;
const OWN_FIELDS = new Set<string>([...SOURCES, 'filename']);

interface AudioLine {
  readonly tenant: string;
  readonly body: Fields;
  /** The target fetches a `file_url` itself, as the gateway does. */
  readonly fetchesFileUrl: boolean;
  readonly signal: AbortSignal;
}

/** Where audio comes from, besides the line itself. */
interface AudioSources {
  readonly files: FileStore;
  readonly blobs: BlobStore;
  readonly fetch: SafeFetch;
}

/**
 * Converts the JSON line of an audio endpoint to the endpoint's form; the audio is
 * streamed from its source. @throws LineProblem
 */
export async function audioForm(line: AudioLine, sources: AudioSources): Promise<LineContent> {
  const named = SOURCES.filter(source => line.body[source] !== undefined);
  if (named.length !== 1)
    throw new LineProblem(
      'missing_required_parameter',
      'Exactly one of file_id, file_url and audio (base64) must be set.',
      'file_id',
    );
  const source = named[0]!;
  const value = line.body[source];
  if (typeof value !== 'string')
    throw new LineProblem('invalid_value', `\`${source}\` must be a string.`, source);
  const fields = formFields(line.body);
  if (source === 'file_url' && line.fetchesFileUrl)
    return multipartForm([...fields, ['file_url', value]]);
  const { filename } = line.body;
  const name = typeof filename === 'string' ? filename : undefined;
  if (source === 'file_id')
    return multipartForm(fields, await storedAudio(line.tenant, value, name, sources));
  const bytes =
    source === 'audio' ? decoded(value) : await fetched(value, sources.fetch, line.signal);
  return multipartForm(fields, {
    name: name ?? 'audio.wav',
    bytes: bytes.length,
    open: () => Readable.from([bytes]),
  });
}

async function storedAudio(
  tenant: string,
  id: string,
  name: string | undefined,
  { files, blobs }: AudioSources,
): Promise<FormFile> {
  const file = await files.find(tenant, id);
  if (!file)
    throw new LineProblem('file_not_found', `There is no file ${id.slice(0, 80)}.`, 'file_id');
  return {
    name: name ?? file.filename,
    bytes: file.bytes,
    open: () => blobs.read(file.blobKey),
  };
}

async function fetched(url: string, fetch: SafeFetch, signal: AbortSignal): Promise<Buffer> {
  if (!URL.canParse(url))
    throw new LineProblem('invalid_value', '`file_url` must be a URL.', 'file_url');
  try {
    return await fetch.bytes(url, signal);
  } catch (error) {
    if (error instanceof DomainError) throw new LineProblem(error.code, error.message, 'file_url');
    throw error;
  }
}

/** Lists as `name[]`, objects as JSON, as OpenAI's clients write forms. */
function formFields(body: Fields): [string, string][] {
  return Object.entries(body).flatMap(([name, value]): [string, string][] => {
    if (OWN_FIELDS.has(name) || value === null || value === undefined) return [];
    if (Array.isArray(value))
      return value.map((item): [string, string] => [`${name}[]`, fieldText(item)]);
    return [[name, fieldText(value)]];
  });
}

const fieldText = (value: unknown): string =>
  typeof value === 'string' ? value : writeJson(value);

const DATA_URL = /^data:[^,]{0,200};base64,/;

function decoded(text: string): Buffer {
  const bytes = Buffer.from(text.replace(DATA_URL, ''), 'base64');
  if (bytes.length === 0)
    throw new LineProblem('invalid_value', '`audio` must be non-empty base64.', 'audio');
  return bytes;
}

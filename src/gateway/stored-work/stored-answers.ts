import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { Injectable, Logger } from '@nestjs/common';
import { type DomainError } from '../../core/errors/domain-error.js';
import { BlobStore } from '../../core/jobs/job.ports.js';
import {
  type StoredAnswer,
  type StoredAttempt,
  type StoredBytes,
  type StoredRequest,
} from '../../core/request/stored-request.js';
import { leadingBytes } from '../../platform/http/leading-bytes.js';
import { storageUnavailable } from '../../platform/http/passing-errors.js';
import { hashed } from '../../platform/storage/durable-files.js';
import { BlobMissing } from '../../platform/storage/storage-problems.js';

/** Headers that belong to an answer and not to the connection it went over. */
const STORED_HEADERS =
  /^(content-(type|disposition)|cache-control|server-timing|x-switchyard-.*|retry-after(-ms)?|x-should-retry)$/;

export type AnswerHeaders = Readonly<
  Record<string, number | string | readonly string[] | undefined>
>;

export interface WorkAnswer<Body = Readable> {
  readonly status: number;
  readonly headers: AnswerHeaders;
  readonly body: Body;
  /** What it failed with before a route, or in its runner; the body has it too. */
  readonly error?: DomainError;
}

type BodyRef = Pick<StoredRequest, 'blob' | 'body'>;

/**
 * Bodies and answers of stored requests, in the blob store: every gateway that shares it
 * can read them. Their rows hold length and hash: bytes that are damaged are never read as
 * if they were whole.
 */
@Injectable()
export class StoredAnswers {
  readonly #logger = new Logger(StoredAnswers.name);

  constructor(private readonly blobs: BlobStore) {}

  /** What the row has to hold. */
  storeBody({ blob }: BodyRef, bytes: AsyncIterable<Uint8Array>): Promise<StoredBytes> {
    return this.#write(bodyKey(blob), bytes);
  }

  /**
   * The body and its length.
   * @throws DomainError `storage_unavailable` when it is missing, damaged or cannot be read;
   *   the same from the body while it is read, before its end
   */
  async openBody({ blob, body }: BodyRef) {
    const opened = await this.#open(bodyKey(blob), body);
    if (!opened) throw damaged();
    return opened;
  }

  /**
   * The answer of the attempt that counts. Undefined: its bytes are gone, or not as many as
   * were stored. What they lack otherwise shows before their end.
   */
  async openAnswer(ended: StoredAttempt & Pick<StoredRequest, 'answer'>) {
    const { status = 200, headers = {}, content } = ended.answer ?? {};
    const opened = await this.#open(answerKey(ended), content);
    return opened && { ...opened, status, headers };
  }

  /**
   * The head that its row has to hold, and whether the answer may be replayed: a stream
   * that reports a failure may not.
   */
  async store(
    attempt: StoredAttempt,
    head: Pick<WorkAnswer, 'status' | 'headers'>,
    body: AsyncIterable<Uint8Array>,
  ): Promise<{ readonly answer: StoredAnswer; readonly isWhole: boolean }> {
    const isStream = STREAM_TYPES.test(String(head.headers['content-type']));
    const seen = { failure: false };
    const content = await this.#write(answerKey(attempt), isStream ? watched(body, seen) : body);
    return { answer: { ...headOf(head), content }, isWhole: !seen.failure };
  }

  /** Never rejects: what stays is garbage, which is collected later. */
  async removeBody({ blob }: Pick<StoredRequest, 'blob'>): Promise<void> {
    await this.#remove(bodyKey(blob));
  }

  /**
   * Call it after the rows are removed: a row never names missing bytes. Garbage
   * collection removes what a crash, or an attempt that did not count, leaves. Never
   * rejects.
   */
  async remove(requests: readonly StoredAttempt[]): Promise<void> {
    for (const request of requests) {
      await this.removeBody(request);
      await this.#remove(answerKey(request));
    }
  }

  async #open(key: string, stored: StoredBytes | undefined) {
    const bytes = await this.blobs.size(key);
    if (bytes === undefined || bytes !== (stored?.bytes ?? bytes)) return undefined;
    const body = Readable.from(checked(this.blobs.read(key), stored), { objectMode: false });
    return { bytes, body };
  }

  async #write(key: string, bytes: AsyncIterable<Uint8Array>): Promise<StoredBytes> {
    const digest = createHash('sha256');
    const written = await this.blobs.write(key, hashed(bytes, digest));
    return { bytes: written, sha256: digest.digest('hex') };
  }

  async #remove(key: string): Promise<void> {
    await this.blobs
      .remove(key)
      .catch((error: unknown) => this.#logger.warn({ key, err: error }, 'blob not removed'));
  }
}

/** The same bytes; what they lack shows before their end. Absent: an earlier release stored them. */
async function* checked(
  bytes: AsyncIterable<Uint8Array>,
  stored: StoredBytes | undefined,
): AsyncGenerator<Uint8Array> {
  const digest = createHash('sha256');
  try {
    yield* hashed(bytes, digest);
  } catch (error) {
    throw error instanceof BlobMissing ? damaged(error) : error;
  }
  if (stored && digest.digest('hex') !== stored.sha256) throw damaged();
}

const damaged = (cause?: unknown) =>
  storageUnavailable('Stored bytes of the request are missing or damaged.', cause);

const STREAM_TYPES = /^(text\/event-stream|application\/x-ndjson)/;
/** At the begin of a line, where text of an answer never is: JSON has no line breaks. */
const FAILED = /^((data: )?\{"error":|event: (error|response\.failed)$)/m;
const LONGEST_MARK = 32;

async function* watched(
  body: AsyncIterable<Uint8Array>,
  seen: { failure: boolean },
): AsyncGenerator<Uint8Array> {
  let line = '';
  for await (const chunk of body) {
    const text = line + Buffer.from(chunk).toString('latin1');
    seen.failure ||= FAILED.test(text);
    line = text.slice(text.lastIndexOf('\n') + 1).slice(0, LONGEST_MARK);
    yield chunk;
  }
}

const bodyKey = (blob: string): string => `${blob}/body`;

/** Attempts never share a key (D-39). The first one's is that of earlier releases. */
const answerKey = ({ blob, attempts }: StoredAttempt): string =>
  `${blob}/answer${attempts > 1 ? `.${attempts}` : ''}`;

/** What of an answer is not of the connection that it went over. */
export function headOf({ status, headers }: Pick<WorkAnswer, 'status' | 'headers'>) {
  const stored = Object.entries(headers).filter(([name]) => STORED_HEADERS.test(name));
  return {
    status,
    headers: Object.fromEntries(stored.map(([name, value]) => [name, String(value)])),
  };
}

/** Longer text is cut, as only its error code is read. */
const MOST_BYTES = 65_536;

export const storedText = (body: AsyncIterable<Uint8Array>): Promise<Buffer> =>
  leadingBytes(body, MOST_BYTES + 1);

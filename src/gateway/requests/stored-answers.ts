import { Injectable } from '@nestjs/common';
import { BlobStore } from '../../core/jobs/job.ports.js';
import { type StoredAttempt, type StoredRequest } from '../../core/request/stored-request.js';
import { orStorageProblem } from '../../platform/storage/storage-problems.js';

/** Headers that belong to an answer and not to the connection it went over. */
const STORED_HEADERS =
  /^(content-(type|disposition)|cache-control|server-timing|x-switchyard-.*|retry-after(-ms)?|x-should-retry)$/;

export type AnswerHeaders = Readonly<
  Record<string, number | string | readonly string[] | undefined>
>;

/**
 * Bodies and answers of stored requests, in the blob store: every gateway that shares it
 * can read them.
 */
@Injectable()
export class StoredAnswers {
  constructor(private readonly blobs: BlobStore) {}

  storeBody(
    { blob }: Pick<StoredRequest, 'blob'>,
    bytes: AsyncIterable<Uint8Array>,
  ): Promise<number> {
    return orStorageProblem(
      this.blobs.write(`${blob}/body`, bytes),
      'No room for the body of the request.',
    );
  }

  bodySize({ blob }: StoredRequest): Promise<number | undefined> {
    return this.blobs.size(`${blob}/body`);
  }

  body({ blob }: StoredRequest): AsyncIterable<Uint8Array> {
    return this.blobs.read(`${blob}/body`);
  }

  /**
   * @returns false for an event stream that reports a failure: a retry must not
   *   get it again
   */
  async store(
    attempt: StoredAttempt,
    { headers }: { readonly headers: AnswerHeaders },
    body: AsyncIterable<Uint8Array>,
  ): Promise<boolean> {
    const isStream = String(headers['content-type']).startsWith('text/event-stream');
    const seen = { failure: false };
    const bytes = isStream ? watched(body, seen) : body;
    await orStorageProblem(this.blobs.write(answerKey(attempt), bytes), 'No room for the answer.');
    return !seen.failure;
  }

  /** Of the attempt that counts. */
  answer(ended: StoredAttempt): AsyncIterable<Uint8Array> {
    return this.blobs.read(answerKey(ended));
  }

  /** Undefined: the bytes are gone. */
  size(ended: StoredAttempt): Promise<number | undefined> {
    return this.blobs.size(answerKey(ended));
  }

  async removeBody({ blob }: StoredRequest): Promise<void> {
    await this.blobs.remove(`${blob}/body`);
  }

  /**
   * Call it after the rows are removed: a row never names missing bytes. Garbage
   * collection removes what a crash, or an attempt that did not count, leaves.
   */
  async remove(requests: readonly StoredRequest[]): Promise<void> {
    for (const request of requests) {
      await this.removeBody(request);
      await this.blobs.remove(answerKey(request));
    }
  }
}

/** At the begin of a line, where text of an answer never is: JSON has no line breaks. */
const FAILED = /^(data: \{"error":|event: (error|response\.failed)$)/m;
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

/** Attempts never share a key (D-39). The first one's is that of earlier releases. */
const answerKey = ({ blob, attempts }: StoredAttempt): string =>
  `${blob}/answer${attempts > 1 ? `.${attempts}` : ''}`;

export function headOf({
  status,
  headers,
}: {
  readonly status: number;
  readonly headers: AnswerHeaders;
}) {
  const stored = Object.entries(headers).filter(([name]) => STORED_HEADERS.test(name));
  return {
    status,
    headers: Object.fromEntries(stored.map(([name, value]) => [name, String(value)])),
  };
}

/** Longer text is cut, as only its error code is read. */
const MOST_BYTES = 65_536;

export async function storedText(body: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > MOST_BYTES) break;
  }
  return Buffer.concat(chunks);
}

import { createHash, type Hash, randomUUID } from 'node:crypto';
import { Inject, Injectable, Logger } from '@nestjs/common';
import {
  type JobCompleted,
  type JobValue,
} from '../../contracts/queue-jobs/job-result.js';
import { type QueueJob } from '../../contracts/queue-jobs/queue-job.js';
import {
  MAX_INLINE_BYTES,
  QUEUE_BLOBS,
  QUEUE_RESULT_BLOBS,
} from '../../contracts/queue-jobs/queue-keys.js';
import { type BlobStore } from '../../core/jobs/job.ports.js';
import { BLOB_STORE } from '../../platform/storage/blob.module.js';
import { loadValue } from '../../platform/storage/blob-keys.js';
import { BlobMissing, orStorageFull } from '../../platform/storage/storage-problems.js';
import { type InlineBytes, type QueueEntry } from './queue-entry.js';

/** A job that may be queued, and the blobs that were written for it. */
export interface PlacedJob {
  readonly job: QueueJob;
  /** Estimated device milliseconds (D-25). */
  readonly costMs: number;
  readonly blobs: readonly string[];
}

/**
 * Large inputs and results of the shared queue: never in Redis (D-19). What this gateway
 * wrote it removes when its request settles.
 */
@Injectable()
export class PayloadBlobs {
  readonly #logger = new Logger(PayloadBlobs.name);

  constructor(@Inject(BLOB_STORE) private readonly store: BlobStore) {}

  /**
   * Writes the audio and says what is to be queued. The fingerprint covers all that was
   * asked, so that a request id that is used again for something else is found out.
   * @throws DomainError `storage_full`, or what the signal was aborted with;
   *   nothing stays behind.
   */
  async place(
    { work, costMs, ...entry }: QueueEntry,
    signal: AbortSignal,
  ): Promise<PlacedJob> {
    const blobs: string[] = [];
    const digest = createHash('sha256');
    try {
      const asked = await orStorageFull(
        this.#asked(work, { blobs, digest, signal }),
        'No room for the upload.',
      );
      digest.update(JSON.stringify([entry.model, work.kind, work.options]));
      return {
        job: { v: 1, ...entry, ...asked, fingerprint: digest.digest('hex') },
        costMs,
        blobs,
      };
    } catch (error) {
      await this.remove(blobs);
      throw error;
    }
  }

  /**
   * What a worker answered, wherever it left that. @throws BlobMissing when
   * it was removed
   */
  load(value: JobCompleted['value']): Promise<JobValue> {
    return loadValue(this.store, value);
  }

  /** @param from position of the first byte. @throws BlobMissing */
  async *read(key: string, from = 0): AsyncIterable<Uint8Array> {
    const size = await this.store.size(key);
    if (size === undefined) throw new BlobMissing(key);
    if (from < size) yield* this.store.read(key, { from, to: size - 1 });
  }

  /** Never rejects: what stays is swept up later. */
  async remove(keys: readonly string[]): Promise<void> {
    for (const key of keys) {
      await this.store
        .remove(key)
        .catch((error: unknown) =>
          this.#logger.warn({ key, err: error }, 'blob not removed'),
        );
    }
  }

  /**
   * Once the job that names it has expired, with time for who reads it until then. What a
   * shutdown leaves is swept up later.
   */
  removeLater(key: string, jobExpiresMs: number): void {
    setTimeout(() => void this.remove([key]), 2 * jobExpiresMs).unref();
  }

  /**
   * Removes what is no longer needed: unread results, and inputs of gateways that died.
   * @param before epoch milliseconds of writing
   */
  async sweep(before: {
    readonly inputsMs: number;
    readonly resultsMs: number;
  }): Promise<number> {
    let removed = 0;
    for await (const { key, writtenAtMs } of this.store.keys(QUEUE_BLOBS)) {
      const isResult = QUEUE_RESULT_BLOBS.some(prefix => key.startsWith(prefix));
      if (writtenAtMs >= (isResult ? before.resultsMs : before.inputsMs)) continue;
      await this.remove([key]);
      removed += 1;
    }
    return removed;
  }

  async #asked(work: QueueEntry['work'], placing: Placing) {
    if (work.kind === 'speech') return { kind: work.kind, options: work.options };
    if (work.kind === 'embedding') return this.#embedding(work, placing);
    const { kind, options } = work;
    const audio =
      'url' in work.audio
        ? named(work.audio, placing)
        : await this.#write('audio', work.audio, placing);
    const knownSpeakers = [];
    for (const { name, reference } of work.speakers) {
      placing.digest.update(name);
      knownSpeakers.push({
        name,
        ...(await this.#write('voice', whole(reference), placing)),
      });
    }
    return { kind, audio, options: { ...options, knownSpeakers } };
  }

  async #embedding({ kind, options, body }: Of<'embedding'>, placing: Placing) {
    if (body.byteLength > MAX_INLINE_BYTES) {
      return {
        kind,
        options: { ...options, body: await this.#write('inputs', whole(body), placing) },
      };
    }
    placing.digest.update(body);
    return { kind, options: { ...options, body: body.toString('utf8') } };
  }

  async #write(
    kind: string,
    bytes: InlineBytes,
    { blobs, digest, signal }: Placing,
  ): Promise<{ blob: string }> {
    const blob = `${QUEUE_BLOBS}${kind}/${randomUUID()}`;
    blobs.push(blob);
    await this.store.write(blob, measured(bytes.chunks(), digest), signal);
    return { blob };
  }
}

type Of<Kind> = Extract<QueueEntry['work'], { kind: Kind }>;

interface Placing {
  readonly blobs: string[];
  readonly digest: Hash;
  readonly signal: AbortSignal;
}

function named({ url }: { readonly url: string }, { digest }: Placing) {
  digest.update(url);
  return { url };
}

async function* measured(
  bytes: AsyncIterable<Uint8Array>,
  digest: Hash,
): AsyncIterable<Uint8Array> {
  for await (const chunk of bytes) {
    digest.update(chunk);
    yield chunk;
  }
}

const whole = (bytes: Uint8Array): InlineBytes => ({
  size: bytes.byteLength,
  // eslint-disable-next-line @typescript-eslint/require-await -- an async iterable is what stores read
  chunks: async function* () {
    yield bytes;
  },
});

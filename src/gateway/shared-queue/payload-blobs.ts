import { createHash, type Hash, randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { Injectable, Logger } from '@nestjs/common';
import { writeJson } from '@switchyard/engine-api/exact-numbers.js';
import { type QueueJob } from '@switchyard/shared-queue/job.codec.js';
import { MAX_INLINE_BYTES, QUEUE_BLOBS } from '@switchyard/shared-queue/keys.js';
import { type JobCompleted, type JobValue } from '@switchyard/shared-queue/result.codec.js';
import { BlobStore } from '../../core/jobs/job.ports.js';
import { priorityLabel } from '../../core/request/request-priority.js';
import { Settings } from '../../platform/config/settings.js';
import { loadValue } from '../../platform/storage/blob-keys.js';
import { hashed } from '../../platform/storage/durable-files.js';
import { BlobMissing } from '../../platform/storage/storage-problems.js';
import { type TaskRequest, type TranscribeTask } from '../../worker-client/worker-task.js';
import { SharedQueueLink } from './shared-queue-link.js';

/** A job that may be queued, and the blobs that were written for it. */
export interface PlacedJob {
  readonly job: QueueJob;
  /** Estimated device milliseconds (D-25). */
  readonly costMs: number;
  readonly blobs: readonly string[];
}

/** Results: synthesised speech, and values too large for Redis. */
const RESULT_BLOBS = [`${QUEUE_BLOBS}speech/`, `${QUEUE_BLOBS}results/`] as const;
/** A result that its worker could not deliver at once is as much older than its job. */
const LATE_DELIVERY_MS = 600_000;
/** A worker that is legally busy with an upload has no longer than this to read it. */
const LONGEST_WORK_MS = 3_600_000;

/**
 * Large inputs and results of the shared queue: never in Redis (D-19). What this gateway
 * wrote it removes when its request settles. Any gateway sweeps up for all of them; doing
 * it twice is harmless.
 */
@Injectable()
export class PayloadBlobs {
  readonly #logger = new Logger(PayloadBlobs.name);

  constructor(
    private readonly store: BlobStore,
    private readonly settings: Settings,
    private readonly link: SharedQueueLink,
  ) {}

  /**
   * Writes the audio and says what is to be queued. The fingerprint covers all that was
   * asked, so that a request id that is used again for something else is found out.
   * Instants become epoch milliseconds of Redis: the clocks of two machines cannot be
   * compared.
   * @param nowMs monotonic, like the instants of the request
   * @throws DomainError `storage_full`, `storage_unavailable`, or what the signal was aborted with;
   *   nothing stays behind.
   */
  async place(request: TaskRequest, nowMs: number, signal: AbortSignal): Promise<PlacedJob> {
    const { id, model, tenant, priority, inferenceTimeoutMs, payload } = request;
    // Text generation needs a connection to its worker (D-21).
    if (payload.kind === 'generate')
      throw new Error(`${payload.kind} does not go through the shared queue`);
    const placing: Placing = { model, blobs: [], digest: createHash('sha256'), signal };
    const { blobs, digest } = placing;
    const epochMs = this.link.clock.nowMs() - nowMs;
    try {
      const asked = await this.#asked(payload, placing);
      const job: QueueJob = {
        v: 1,
        id,
        model,
        priority: priorityLabel(priority),
        tenant,
        acceptedMs: Math.round(epochMs + request.enqueuedAtMs),
        deadlineMs: Math.round(epochMs + request.queueDeadlineMs),
        timeoutMs: Math.round(inferenceTimeoutMs),
        ...asked,
        fingerprint: digest.digest('hex'),
      };
      return { job, costMs: request.costMs, blobs };
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
        .catch((error: unknown) => this.#logger.warn({ key, err: error }, 'blob not removed'));
    }
  }

  /**
   * Once the job that names it has expired, with time for who reads it until then. What a
   * shutdown leaves is swept up later.
   */
  removeLater(key: string, jobExpiresMs: number): void {
    setTimeout(() => void this.remove([key]), 2 * jobExpiresMs).unref();
  }

  /** Removes what is no longer needed: unread results, and inputs of gateways that died. */
  async sweep(): Promise<void> {
    const { queue, redis } = this.settings;
    const expiredMs = this.link.clock.nowMs() - redis.resultTtlMs;
    const resultsMs = expiredMs - LATE_DELIVERY_MS;
    const inputsMs = expiredMs - queue.timeoutMs - LONGEST_WORK_MS;
    for await (const { key, writtenAtMs } of this.store.keys(QUEUE_BLOBS)) {
      const isResult = RESULT_BLOBS.some(prefix => key.startsWith(prefix));
      if (writtenAtMs < (isResult ? resultsMs : inputsMs)) await this.remove([key]);
    }
  }

  async #asked(
    task: Exclude<TaskRequest['payload'], { readonly kind: 'generate' }>,
    placing: Placing,
  ) {
    switch (task.kind) {
      case 'synthesize': {
        const { text, voice, speed, format } = task;
        const options = { text, voice, speed, format };
        return { kind: 'speech' as const, options: signed('speech', options, placing) };
      }
      case 'embed': {
        const { inputs, form, body } = task;
        const written = await this.#body(body, placing);
        const options = signed('embedding', { inputs, ...(form && { form }) }, placing);
        return { kind: 'embedding' as const, options: { ...options, body: written } };
      }
      case 'transcribe':
        return this.#transcription(task, placing);
    }
  }

  async #body(body: Buffer, placing: Placing) {
    if (body.byteLength > MAX_INLINE_BYTES)
      return this.#write('inputs', Readable.from([body]), placing);
    placing.digest.update(body);
    return body.toString('utf8');
  }

  /** Segments arrive with the result: a queue cannot send them while they are made. */
  async #transcription(
    {
      kind: _kind,
      task,
      audio,
      knownSpeakers: speakers,
      onSegment: _onSegment,
      ...asked
    }: TranscribeTask,
    placing: Placing,
  ) {
    const written =
      'url' in audio ? named(audio, placing) : await this.#write('audio', audio.chunks(), placing);
    const knownSpeakers = [];
    for (const { name, reference } of speakers) {
      placing.digest.update(name);
      knownSpeakers.push({
        name,
        ...(await this.#write('voice', Readable.from([reference]), placing)),
      });
    }
    const kind = task === 'translate' ? 'translation' : 'transcription';
    const options = { ...signed(kind, asked, placing), knownSpeakers };
    return { kind, audio: written, options } as const;
  }

  async #write(
    kind: string,
    bytes: AsyncIterable<Uint8Array>,
    { blobs, digest, signal }: Placing,
  ): Promise<{ blob: string }> {
    const blob = `${QUEUE_BLOBS}${kind}/${randomUUID()}`;
    blobs.push(blob);
    await this.store.write(blob, hashed(bytes, digest), signal);
    return { blob };
  }
}

interface Placing {
  readonly model: string;
  readonly blobs: string[];
  readonly digest: Hash;
  readonly signal: AbortSignal;
}

/** The options, which are part of the fingerprint as they were asked for. */
function signed<T extends object>(kind: string, options: T, { digest, model }: Placing) {
  digest.update(writeJson([model, kind, options]));
  return options;
}

function named({ url }: { readonly url: string }, { digest }: Placing) {
  digest.update(url);
  return { url };
}

import { randomUUID } from 'node:crypto';
import { PassThrough } from 'node:stream';
import { Inject, Injectable } from '@nestjs/common';
import { invalidField } from '@switchyard/engine-api/field-problems.js';
import { type SpeechSynthesizer } from '@switchyard/engine-api/speech-synthesizer.js';
import { type TextEmbedder } from '@switchyard/engine-api/text-embedder.js';
import { type QueueJob } from '@switchyard/shared-queue/job.codec.js';
import { QUEUE_BLOBS } from '@switchyard/shared-queue/keys.js';
import { encodeSpeechPiece } from '@switchyard/shared-queue/messages.codec.js';
import { RequestQueue } from '@switchyard/shared-queue/worker/request-queue.js';
import { type CallEnvelope } from '@switchyard/worker-protocol/call.codec.js';
import { DomainError } from '../../core/errors/domain-error.js';
import { BlobStore } from '../../core/jobs/job.ports.js';
import { RequestPriority } from '../../core/request/request-priority.js';
import { readWhole } from '../../platform/storage/blob-keys.js';
import { ENGINE } from '../engines/worker-engine.js';
import { EmbeddingService } from '../execution/embedding.service.js';
import {
  type SpeechHeader,
  type SpeechReceiver,
  SynthesisService,
} from '../execution/synthesis.service.js';
import { JobWork } from './job-work.js';
import { PullConnections } from './pull-connections.js';

/** Largest body of one request. */
const MAX_BODY_BYTES = 64 * 1_048_576;

@Injectable()
export class EmbeddingWork extends JobWork {
  constructor(
    @Inject(ENGINE) protected readonly engine: TextEmbedder,
    private readonly blobs: BlobStore,
    private readonly embedding: EmbeddingService,
  ) {
    super();
  }

  async perform(job: QueueJob, envelope: CallEnvelope, signal: AbortSignal) {
    if (job.kind !== 'embedding') throw this.wrongKind(job);
    const { body, ...options } = job.options;
    const call = {
      ...envelope,
      ...options,
      body: await this.#bytes(body),
      tenant: job.tenant ?? '',
    };
    const { vectors, dimensions, usage, execution } = await this.embedding.embed(call, signal);
    const value = {
      kind: 'embeddings',
      vectors: vectors.toString('base64'),
      dimensions,
      usage,
    } as const;
    return { value, execution };
  }

  /** @throws DomainError `file_not_found`, `file_too_large` */
  async #bytes(body: Extract<QueueJob, { kind: 'embedding' }>['options']['body']): Promise<Buffer> {
    if (typeof body === 'string') return Buffer.from(body);
    const param = 'options.body';
    const size = await this.blobs.size(body.blob);
    if (size === undefined) {
      throw new DomainError('file_not_found', `There is no input ${body.blob} in the blob store.`, {
        param,
      });
    }
    if (size > MAX_BODY_BYTES) {
      throw new DomainError(
        'file_too_large',
        `${param} has ${size} bytes; at most ${MAX_BODY_BYTES}.`,
        { param },
      );
    }
    return readWhole(this.blobs, body.blob);
  }
}

/**
 * Speech: the audio goes to the blob store, and to subscribers while it is made; the
 * result names the blob.
 */
@Injectable()
export class SpeechWork extends JobWork {
  constructor(
    @Inject(ENGINE) protected readonly engine: SpeechSynthesizer,
    private readonly blobs: BlobStore,
    private readonly synthesis: SynthesisService,
    private readonly connections: PullConnections,
    private readonly queue: RequestQueue,
  ) {
    super();
  }

  async perform(job: QueueJob, envelope: CallEnvelope, signal: AbortSignal) {
    if (job.kind !== 'speech') throw this.wrongKind(job);
    const { text, speed } = job.options;
    if (text.trim() === '') throw invalidField('options.text', 'The text is empty.');
    this.assertAble('options.speed', 'speed', speed !== 1);
    // Never the name of an earlier attempt: its worker may still be writing.
    const blob = `${QUEUE_BLOBS}speech/${randomUUID()}`;
    // What a slow store has not taken waits in memory, bounded by the text.
    const bytes = new PassThrough();
    const written = this.blobs.write(blob, bytes, signal);
    written.catch(() => undefined);
    const publish = this.#publisher(envelope.requestId, blob);
    const spoken: { header?: SpeechHeader } = {};
    const receiver: SpeechReceiver = {
      header: header => void (spoken.header = header),
      audio: piece => {
        bytes.write(piece);
        if (spoken.header) publish(spoken.header, piece);
      },
    };
    try {
      const call = { ...job.options, ...envelope };
      const isHeard = await this.#isHeard(envelope);
      const { execution, ...made } = await this.synthesis.synthesize(
        ...([call, signal, receiver, isHeard] as const),
      );
      bytes.end();
      await written;
      if (!spoken.header) throw new DomainError('engine_failed', 'The engine made no audio.');
      const value = { kind: 'speech' as const, blob, ...spoken.header, ...made };
      return { value, execution };
    } catch (error) {
      bytes.destroy();
      await written.then(() => this.blobs.remove(blob)).catch(() => undefined);
      throw error;
    }
  }

  /** Its gateway receives the audio while it is made; a job without HTTP is a file. */
  async #isHeard({ priority, requestId }: CallEnvelope): Promise<boolean> {
    if (priority !== RequestPriority.REALTIME) return false;
    const channel = this.connections.keys.speech(this.queue.name, requestId);
    const numbers = await this.connections
      .for('work')
      .pubsub('NUMSUB', channel)
      .catch(() => []);
    return Number(numbers[1] ?? 0) > 0;
  }

  /**
   * Publishes the audio of one job while it is made, so that its first bytes reach the
   * caller before the last are made. Best effort: a gateway that misses a piece reads the
   * blob. Stops at the first piece without a receiver.
   */
  #publisher(requestId: string, blob: string): (header: SpeechHeader, bytes: Buffer) => void {
    const redis = this.connections.for('work');
    const channel = this.connections.keys.speech(this.queue.name, requestId);
    let offset = 0;
    let isReceived = true;
    return ({ contentType, sampleRate }, bytes) => {
      if (!isReceived) return;
      const piece = { blob, offset, contentType, sampleRate, bytes };
      offset += bytes.length;
      void redis
        .publish(channel, encodeSpeechPiece(piece))
        .catch(() => 0)
        .then(receivers => (isReceived &&= receivers > 0));
    };
  }
}

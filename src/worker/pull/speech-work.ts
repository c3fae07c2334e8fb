import { randomUUID } from 'node:crypto';
import { PassThrough } from 'node:stream';
import { Inject, Injectable } from '@nestjs/common';
import { type CallEnvelope } from '../../contracts/grpc/call.codec.js';
import { type SpeechChunk } from '../../contracts/grpc/tts.codec.js';
import { type QueueJob } from '../../contracts/queue-jobs/queue-job.js';
import { PLANE_BLOBS } from '../../contracts/queue-jobs/queue-keys.js';
import { type BlobStore } from '../../core/jobs/job.ports.js';
import { DomainError } from '../../core/shared/domain-error.js';
import { BLOB_STORE } from '../../platform/storage/blob.module.js';
import { SYNTHESIZER } from '../engine.tokens.js';
import { type SpeechSynthesizer } from '../engines/engine.js';
import { SynthesisService } from '../execution/synthesis.service.js';
import { assertAble, wrongKind } from './job-abilities.js';
import { PullConnections } from './pull-connections.js';
import { RequestQueue } from './request-queue.js';
import { SpeechPieces } from './speech-pieces.js';
import { type JobAnswer, type PlaneWork } from './plane-work.js';

type Of<Kind> = Extract<SpeechChunk, { kind: Kind }>;

/** Speech: the audio goes to the blob store and to whoever listens while it is made; the answer names the blob. */
@Injectable()
export class SpeechWork implements PlaneWork {
  constructor(
    @Inject(SYNTHESIZER) private readonly engine: SpeechSynthesizer,
    @Inject(BLOB_STORE) private readonly blobs: BlobStore,
    private readonly synthesis: SynthesisService,
    private readonly connections: PullConnections,
    private readonly queue: RequestQueue,
  ) {}

  async perform(job: QueueJob, envelope: CallEnvelope, signal: AbortSignal): Promise<JobAnswer> {
    if (job.kind !== 'speech') throw wrongKind(job, this.engine.kind);
    const { text, speed } = job.options;
    if (text.trim() === '') throw new DomainError('invalid_value', 'The text is empty.', { param: 'options.text' });
    assertAble(this.engine.info, [{ param: 'options.speed', capability: 'speed', wanted: speed !== 1 }]);
    // Never a name that an earlier attempt used: its worker may still be writing.
    const blob = `${PLANE_BLOBS}speech/${randomUUID()}`;
    const channel = this.connections.keys.speech(this.queue.name, envelope.requestId);
    const spoken = new SpokenBlob(new SpeechPieces(this.connections, channel, blob));
    const written = this.blobs.write(blob, spoken.bytes, signal);
    written.catch(() => undefined);
    try {
      await this.synthesis.synthesize({ ...job.options, ...envelope }, signal, chunk => spoken.take(chunk));
      await written;
    } catch (error) {
      spoken.bytes.destroy();
      await written.then(() => this.blobs.remove(blob)).catch(() => undefined);
      throw error;
    }
    const { contentType, sampleRate, durationS, execution } = spoken.end();
    return { value: { kind: 'speech', blob, contentType, sampleRate, durationS }, execution };
  }
}

/** The stream of one speech on its way into a blob. What a slow store has not taken waits in memory, bounded by the text. */
class SpokenBlob {
  readonly bytes = new PassThrough();
  #header: Of<'header'> | undefined;
  #done: Of<'done'> | undefined;

  constructor(private readonly pieces: SpeechPieces) {}

  take(chunk: SpeechChunk): void {
    if (chunk.kind === 'audio') this.#write(chunk.bytes);
    else if (chunk.kind === 'header') this.#header = chunk;
    else {
      this.#done = chunk;
      this.bytes.end();
    }
  }

  #write(bytes: Buffer): void {
    this.bytes.write(bytes);
    if (this.#header) this.pieces.publish(this.#header, bytes);
  }

  /** @throws DomainError when the engine ended without a word. */
  end() {
    if (!this.#header || !this.#done) throw new DomainError('engine_failed', 'The engine made no audio.');
    return { ...this.#header, ...this.#done };
  }
}

import { randomUUID } from 'node:crypto';
import { PassThrough } from 'node:stream';
import { Inject, Injectable } from '@nestjs/common';
import { type CallEnvelope, decodeExecution } from '../../contracts/grpc/call.codec.js';
import { type SpeechHeader, type SpeechMessage } from '../../contracts/grpc/tts.codec.js';
import { type QueueJob } from '../../contracts/queue-jobs/queue-job.js';
import { QUEUE_BLOBS } from '../../contracts/queue-jobs/queue-keys.js';
import { encodeSpeechPiece } from '../../contracts/queue-jobs/queue-messages.js';
import { type BlobStore } from '../../core/jobs/job.ports.js';
import { DomainError } from '../../core/errors/domain-error.js';
import { BLOB_STORE } from '../../platform/storage/blob.module.js';
import { type SpeechSynthesizer } from '@switchyard/engine-api/speech-synthesizer.js';
import { SYNTHESIZER } from '../engines/worker-engine.js';
import { SynthesisService } from '../execution/synthesis.service.js';
import { assertAble, type JobAnswer, type JobWork, wrongKind } from './job-work.js';
import { PullConnections } from './pull-connections.js';
import { RequestQueue } from './request-queue.js';

/**
 * Publishes the audio of one job while it is made, so that its first bytes reach the
 * caller before the last are made. Best effort: a gateway that misses a piece reads the
 * blob. Stops at the first piece without a receiver.
 */
export class SpeechPieces {
  #offset = 0;
  #received = true;

  constructor(
    private readonly connections: PullConnections,
    /** `QueueKeys.speech` of the job. */
    private readonly channel: string,
    private readonly blob: string,
  ) {}

  publish({ contentType, sampleRate }: SpeechHeader, bytes: Buffer): void {
    if (!this.#received) return;
    const { blob } = this;
    void this.#send(
      encodeSpeechPiece({ blob, offset: this.#offset, contentType, sampleRate, bytes }),
    );
    this.#offset += bytes.length;
  }

  async #send(message: Buffer): Promise<void> {
    const redis = this.connections.for('work');
    const receivers = await redis.publish(this.channel, message).catch(() => 0);
    if (receivers === 0) this.#received = false;
  }
}

/**
 * Speech: the audio goes to the blob store, and to subscribers while it is made; the
 * result names the blob.
 */
@Injectable()
export class SpeechWork implements JobWork {
  constructor(
    @Inject(SYNTHESIZER) private readonly engine: SpeechSynthesizer,
    @Inject(BLOB_STORE) private readonly blobs: BlobStore,
    private readonly synthesis: SynthesisService,
    private readonly connections: PullConnections,
    private readonly queue: RequestQueue,
  ) {}

  async perform(
    job: QueueJob,
    envelope: CallEnvelope,
    signal: AbortSignal,
  ): Promise<JobAnswer> {
    if (job.kind !== 'speech') throw wrongKind(job, this.engine.kind);
    const { text, speed } = job.options;
    if (text.trim() === '')
      throw new DomainError('invalid_value', 'The text is empty.', {
        param: 'options.text',
      });
    assertAble(this.engine.info, [
      { param: 'options.speed', capability: 'speed', wanted: speed !== 1 },
    ]);
    // Never the name of an earlier attempt: its worker may still be writing.
    const blob = `${QUEUE_BLOBS}speech/${randomUUID()}`;
    const channel = this.connections.keys.speech(this.queue.name, envelope.requestId);
    const output = new SpeechBlob(new SpeechPieces(this.connections, channel, blob));
    const written = this.blobs.write(blob, output.bytes, signal);
    written.catch(() => undefined);
    try {
      await this.synthesis.synthesize({ ...job.options, ...envelope }, signal, message =>
        output.take(message),
      );
      await written;
    } catch (error) {
      output.bytes.destroy();
      await written.then(() => this.blobs.remove(blob)).catch(() => undefined);
      throw error;
    }
    const { contentType, sampleRate, durationS, execution } = output.end();
    return {
      value: { kind: 'speech', blob, contentType, sampleRate, durationS },
      execution,
    };
  }
}

/**
 * Writes the stream of one speech to a blob. What a slow store has not taken waits in
 * memory, bounded by the text.
 */
class SpeechBlob {
  readonly bytes = new PassThrough();
  #header: SpeechHeader | undefined;
  #done: Extract<SpeechMessage, { $case: 'done' }>['value'] | undefined;

  constructor(private readonly pieces: SpeechPieces) {}

  take(message: SpeechMessage): void {
    if (message.$case === 'audio') this.#write(message.value);
    else if (message.$case === 'header') this.#header = message.value;
    else {
      this.#done = message.value;
      this.bytes.end();
    }
  }

  #write(bytes: Buffer): void {
    this.bytes.write(bytes);
    if (this.#header) this.pieces.publish(this.#header, bytes);
  }

  /** @throws DomainError when the engine made no audio */
  end() {
    if (!this.#header || !this.#done)
      throw new DomainError('engine_failed', 'The engine made no audio.');
    return {
      ...this.#header,
      ...this.#done,
      execution: decodeExecution(this.#done.execution),
    };
  }
}

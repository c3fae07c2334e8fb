import { Injectable } from '@nestjs/common';
import { type JobRef } from '@switchyard/shared-queue/client/model-queues.js';
import { decodeSpeechPiece, type SpeechPiece } from '@switchyard/shared-queue/messages.codec.js';
import { type JobValue } from '@switchyard/shared-queue/result.codec.js';
import { type Redis } from 'ioredis';
import { DomainError } from '../../core/errors/domain-error.js';
import { SinkWriter } from '../../worker-client/sink-writer.js';
import { type SpeechSink } from '../../worker-client/worker-task.js';
import { SharedQueueLink } from './shared-queue-link.js';

/**
 * Receives speech while pulling workers make it. Pieces lost in a break of the connection
 * are read from the blob later.
 */
@Injectable()
export class SpeechFeed {
  readonly #listeners = new Map<string, (piece: SpeechPiece) => void>();
  #client: Redis | undefined;

  constructor(private readonly link: SharedQueueLink) {}

  /**
   * Resolves once pieces can arrive, or Redis does not answer: then none
   * do. Never rejects.
   */
  async listen(ref: JobRef, listener: (piece: SpeechPiece) => void): Promise<void> {
    const channel = this.#channel(ref);
    this.#listeners.set(channel, listener);
    await this.link.look(() => this.#connection().subscribe(channel), undefined);
  }

  forget(ref: JobRef): void {
    const channel = this.#channel(ref);
    if (this.#listeners.delete(channel))
      void this.#client?.unsubscribe(channel).catch(() => undefined);
  }

  #channel({ model, jobId }: JobRef): string {
    const { keys } = this.link;
    return keys.speech(keys.queue(model), jobId);
  }

  #connection(): Redis {
    if (this.#client) return this.#client;
    const client = this.link.listener();
    client.on('messageBuffer', (channel: Buffer, message: Buffer) => {
      const piece = decodeSpeechPiece(message);
      if (piece) this.#listeners.get(channel.toString())?.(piece);
    });
    return (this.#client = client);
  }
}

/**
 * Passes the speech of a pulling worker to the caller: pieces while they are made; pieces
 * that were missed, or that the caller was too slow for, from the blob store.
 */
export class SpeechRelay {
  /** Pieces that arrived before the worker was known to have the request. */
  #held: SpeechPiece[] | undefined = [];
  #blob: string | undefined;
  #sent = 0;
  /** The rest is read from the blob: a piece is missing, or the caller reads slowly. */
  #behind = false;

  constructor(private readonly sink: SpeechSink) {}

  /** The caller has received some of it: no other worker may start over. */
  get begun(): boolean {
    return this.#sent > 0;
  }

  /** A worker has the request: from now on pieces go to the caller. */
  open(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const piece of held) this.#send(piece);
  }

  /** True: it is the first that is kept until `open`. */
  piece(piece: SpeechPiece): boolean {
    if (this.#held) return this.#held.push(piece) === 1;
    this.#send(piece);
    return false;
  }

  /**
   * All of it is made: the rest is sent at the caller's pace.
   * @throws DomainError `worker_lost` when the result is of another attempt than the
   *   part already sent,
   *   `request_cancelled` when the
   *   caller disconnected; what `read` throws
   */
  async complete(
    { blob, contentType, sampleRate }: Extract<JobValue, { kind: 'speech' }>,
    read: (blob: string, from: number) => AsyncIterable<Uint8Array>,
  ): Promise<void> {
    this.open();
    this.#behind = true;
    if (this.begun && blob !== this.#blob) throw lostMidway();
    const writer = new SinkWriter(this.sink.audio);
    let succeeded = false;
    try {
      if (!this.begun) this.sink.header({ contentType, sampleRate });
      for await (const chunk of read(blob, this.#sent)) {
        await writer.write(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength));
        if (writer.gone) throw new DomainError('request_cancelled', 'The caller disconnected.');
      }
      succeeded = true;
    } finally {
      writer.finish(succeeded);
    }
  }

  #send({ blob, offset, bytes, ...head }: SpeechPiece): void {
    if (this.#behind || this.sink.audio.destroyed) return;
    if (!this.begun) this.#blob = blob;
    if (blob !== this.#blob || offset !== this.#sent) {
      this.#behind = true;
      return;
    }
    if (!this.begun) this.sink.header(head);
    this.#sent += bytes.length;
    this.#behind = !this.sink.audio.write(bytes);
  }
}

/** The caller would hear the sentence start over. */
export const lostMidway = (): DomainError =>
  new DomainError('worker_lost', 'The worker died in the middle of the speech.');

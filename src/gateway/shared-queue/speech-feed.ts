import { Injectable } from '@nestjs/common';
import { type Redis } from 'ioredis';
import { decodeSpeechPiece, type SpeechPiece } from '../../contracts/queue-jobs/queue-speech.js';
import { SharedQueueLink } from './shared-queue-link.js';
import { type JobRef } from './model-queues.js';

export type SpeechListener = (piece: SpeechPiece) => void;

/** Speech of workers that pull, while they make it. A break of the connection loses pieces: what is missing is in the blob. */
@Injectable()
export class SpeechFeed {
  readonly #listeners = new Map<string, SpeechListener>();
  #client: Redis | undefined;

  constructor(private readonly link: SharedQueueLink) {}

  /** Resolves when pieces are heard, or Redis does not answer: then there are none. Never rejects. */
  async listen({ queue, jobId }: JobRef, listener: SpeechListener): Promise<void> {
    const channel = this.link.keys.speech(queue, jobId);
    this.#listeners.set(channel, listener);
    await this.link.look(() => this.#connection().subscribe(channel), undefined);
  }

  forget({ queue, jobId }: JobRef): void {
    const channel = this.link.keys.speech(queue, jobId);
    if (this.#listeners.delete(channel)) void this.#client?.unsubscribe(channel).catch(() => undefined);
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

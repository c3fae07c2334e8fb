import { Injectable } from '@nestjs/common';
import { type Redis } from 'ioredis';
import { decodeSpeechPiece, type SpeechPiece } from '../../contracts/queue-jobs/queue-speech.js';
import { PlaneLink } from './redis-link.js';
import { type PlaneRef } from './model-queues.js';

export type SpeechListener = (piece: SpeechPiece) => void;

/** Speech of workers that pull, while they make it. A break of the connection loses pieces: what is missing is in the blob. */
@Injectable()
export class PlaneSpeechFeed {
  readonly #listeners = new Map<string, SpeechListener>();
  #client: Redis | undefined;

  constructor(private readonly link: PlaneLink) {}

  /** Resolves when pieces are heard, or Redis does not answer: then there are none. Never rejects. */
  async listen({ queue, jobId }: PlaneRef, listener: SpeechListener): Promise<void> {
    const channel = this.link.keys.speech(queue, jobId);
    this.#listeners.set(channel, listener);
    await this.link.look(() => this.#connection().subscribe(channel), undefined);
  }

  forget({ queue, jobId }: PlaneRef): void {
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

import { encodeSpeechPiece, type SpeechPiece } from '../../contracts/queue-jobs/queue-speech.js';
import { type PullConnections } from './pull-connections.js';

type Head = Pick<SpeechPiece, 'contentType' | 'sampleRate'>;

/**
 * Publishes the audio of one job while it is made, so that its first bytes reach the caller before the last are made. Only a hint:
 * a gateway that misses a piece reads the blob. Ends at the first piece that nobody receives.
 */
export class SpeechPieces {
  #offset = 0;
  #received = true;

  constructor(
    private readonly connections: PullConnections,
    /** `PlaneKeys.speech` of the job. */
    private readonly channel: string,
    private readonly blob: string,
  ) {}

  publish({ contentType, sampleRate }: Head, bytes: Buffer): void {
    if (!this.#received) return;
    const { blob } = this;
    void this.#send(encodeSpeechPiece({ blob, offset: this.#offset, contentType, sampleRate, bytes }));
    this.#offset += bytes.length;
  }

  async #send(message: Buffer): Promise<void> {
    const redis = this.connections.for('work');
    const receivers = await redis.publish(this.channel, message).catch(() => 0);
    if (receivers === 0) this.#received = false;
  }
}

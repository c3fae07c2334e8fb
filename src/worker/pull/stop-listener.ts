import { Injectable } from '@nestjs/common';
import { readStopNote, type StopNote } from '@switchyard/shared-queue/messages.codec.js';
import { RequestQueue } from '@switchyard/shared-queue/worker/request-queue.js';
import { type Redis } from 'ioredis';
import { PullConnections } from './pull-connections.js';

/**
 * Receives stop notes for jobs from any gateway (D-19): over pub/sub, and by a lookup for
 * notes that were sent before. Notes that are published while the subscription is down
 * are missed, so running jobs are looked up again when it is back.
 */
@Injectable()
export class StopListener {
  readonly #running = new Map<string, (note: StopNote) => void>();
  #listening = false;

  constructor(
    private readonly connections: PullConnections,
    private readonly queue: RequestQueue,
  ) {}

  /**
   * Calls `stop` at once if a note exists already. @throws Error when Redis
   * does not answer
   */
  async watch(jobId: string, stop: (note: StopNote) => void): Promise<Disposable> {
    this.#listen();
    this.#running.set(jobId, stop);
    await this.#lookUp([jobId]);
    return { [Symbol.dispose]: () => void this.#running.delete(jobId) };
  }

  #listen(): void {
    if (this.#listening) return;
    this.#listening = true;
    const client = this.connections.for('listen');
    client.on('message', (_channel: string, text: string) => this.#received(readStopNote(text)));
    const again = (): void => void this.#lookUpAll(client).catch(() => undefined);
    client.on('ready', again);
    // Repeats a lookup that failed because this connection was down.
    this.connections.for('work').on('ready', again);
    if (client.status === 'ready') again();
  }

  /**
   * Notes are stored before they are published, so a missed one is found by this lookup.
   */
  async #lookUpAll(client: Redis): Promise<void> {
    await client.subscribe(this.connections.keys.stops);
    await this.#lookUp([...this.#running.keys()]);
  }

  async #lookUp(jobIds: readonly string[]): Promise<void> {
    if (jobIds.length === 0) return;
    const keys = jobIds.map(id => this.connections.keys.stop(this.queue.name, id));
    const notes = await this.connections.for('work').mget(keys);
    for (const note of notes) if (note !== null) this.#received(readStopNote(note));
  }

  /** Handles each note once. */
  #received(note: StopNote | undefined): void {
    if (note?.queue !== this.queue.name) return;
    const stop = this.#running.get(note.jobId);
    this.#running.delete(note.jobId);
    stop?.(note);
  }
}

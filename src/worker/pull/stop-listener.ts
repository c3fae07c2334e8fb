import { Injectable } from '@nestjs/common';
import { type Redis } from 'ioredis';
import { readStopNote, type StopNote } from '../../contracts/queue-jobs/queue-messages.js';
import { PullConnections } from './pull-connections.js';
import { RequestQueue } from './request-queue.js';

/**
 * Hears which jobs are to stop, from whatever gateway (D-19): told at once over pub/sub, and found with the job for those told
 * before. What is told before the subscription stands, or while it is broken, is heard by nobody; so those who run by then are
 * looked up again.
 */
@Injectable()
export class StopListener {
  readonly #running = new Map<string, (note: StopNote) => void>();
  #listening = false;

  constructor(
    private readonly connections: PullConnections,
    private readonly queue: RequestQueue,
  ) {}

  /** Calls `stop` at once for a note that is there already. @throws Error when Redis does not answer */
  async watch(jobId: string, stop: (note: StopNote) => void): Promise<Disposable> {
    this.#listen();
    this.#running.set(jobId, stop);
    await this.#look([jobId]);
    return { [Symbol.dispose]: () => void this.#running.delete(jobId) };
  }

  #listen(): void {
    if (this.#listening) return;
    this.#listening = true;
    const client = this.connections.for('listen');
    client.on('message', (_channel: string, text: string) => this.#heard(readStopNote(text)));
    const again = (): void => void this.#lookAgain(client).catch(() => undefined);
    client.on('ready', again);
    // A look that failed because this one was away.
    this.connections.for('work').on('ready', again);
    if (client.status === 'ready') again();
  }

  /** Notes are kept before they are told: one that this subscription missed is found by this look. */
  async #lookAgain(client: Redis): Promise<void> {
    await client.subscribe(this.connections.keys.stops);
    await this.#look([...this.#running.keys()]);
  }

  async #look(jobIds: readonly string[]): Promise<void> {
    if (jobIds.length === 0) return;
    const keys = jobIds.map(id => this.connections.keys.stop(this.queue.name, id));
    const notes = await this.connections.for('work').mget(keys);
    for (const note of notes) if (note !== null) this.#heard(readStopNote(note));
  }

  /** Once, also of a note that was told and found. */
  #heard(note: StopNote | undefined): void {
    if (note?.queue !== this.queue.name) return;
    const stop = this.#running.get(note.jobId);
    this.#running.delete(note.jobId);
    stop?.(note);
  }
}

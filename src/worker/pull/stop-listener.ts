import { Injectable } from '@nestjs/common';
import { readStopNote, type StopNote } from '../../contracts/plane/plane-messages.js';
import { PullConnections } from './pull-connections.js';
import { RequestQueue } from './request-queue.js';

/** Hears which jobs are to stop, from whatever gateway (D-19): told at once over pub/sub, and found with the job for those told before. */
@Injectable()
export class StopListener {
  readonly #running = new Map<string, (note: StopNote) => void>();
  #listening = false;

  constructor(
    private readonly connections: PullConnections,
    private readonly queue: RequestQueue,
  ) {}

  /** Calls `stop` at once for a note that is there already. The subscription itself comes back with the connection. */
  async watch(jobId: string, stop: (note: StopNote) => void): Promise<Disposable> {
    this.#listen();
    this.#running.set(jobId, stop);
    const earlier = await this.connections.for('work').get(this.connections.keys.stop(this.queue.name, jobId));
    const note = earlier === null ? undefined : readStopNote(earlier);
    if (note) stop(note);
    return { [Symbol.dispose]: () => void this.#running.delete(jobId) };
  }

  #listen(): void {
    if (this.#listening) return;
    this.#listening = true;
    const client = this.connections.for('listen');
    client.on('message', (_channel: string, text: string) => this.#heard(readStopNote(text)));
    client.subscribe(this.connections.keys.stops).catch(() => (this.#listening = false));
  }

  #heard(note: StopNote | undefined): void {
    if (note?.queue === this.queue.name) this.#running.get(note.jobId)?.(note);
  }
}

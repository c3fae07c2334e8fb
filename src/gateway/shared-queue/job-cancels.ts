import { Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { type Observable, Subject } from 'rxjs';
import { readStopNote, type StopNote, type StopReason } from '../../contracts/queue-jobs/queue-messages.js';
import { SharedQueueLink } from './shared-queue-link.js';
import { ModelQueues, type JobRef } from './model-queues.js';

/**
 * Stops jobs wherever they are. A note is published, so that gateways and workers receive it within milliseconds, and
 * kept for those that were not connected. The job is removed unless a worker has it.
 */
@Injectable()
export class JobCancels implements OnApplicationBootstrap, OnApplicationShutdown {
  readonly #notes = new Subject<StopNote>();

  /** Stops by any gateway, this one included. */
  readonly notes$: Observable<StopNote> = this.#notes.asObservable();

  constructor(
    private readonly link: SharedQueueLink,
    private readonly queues: ModelQueues,
  ) {}

  onApplicationBootstrap(): void {
    if (!this.link.enabled) return;
    const { stops } = this.link.keys;
    const listener = this.link.listener();
    listener.on('message', (channel: string, json: string) => {
      const note = channel === stops ? readStopNote(json) : undefined;
      if (note) this.#notes.next(note);
    });
    // The client sends it once Redis answers, and again after each break.
    listener.subscribe(stops).catch(() => undefined);
  }

  onApplicationShutdown(): void {
    this.#notes.complete();
  }

  /**
   * True: it waited and is removed. False: a worker has it and is asked to stop. @throws when Redis does not answer.
   */
  async stop(ref: JobRef, reason: StopReason): Promise<boolean> {
    const { queue, jobId } = ref;
    const { redis, keys, access } = this.link;
    const note = JSON.stringify({ queue, jobId, reason } satisfies StopNote);
    const kept = redis.set(keys.stop(queue, jobId), note, 'PX', access?.resultTtlMs ?? 1);
    const published = redis.publish(keys.stops, note);
    const [removed] = await Promise.all([this.queues.remove(ref), kept, published]);
    return removed;
  }

  /** Why a job that is gone was stopped; undefined: it was not. */
  async reasonOf({ queue, jobId }: JobRef): Promise<StopReason | undefined> {
    const json = await this.link.redis.get(this.link.keys.stop(queue, jobId));
    return json === null ? undefined : readStopNote(json)?.reason;
  }
}

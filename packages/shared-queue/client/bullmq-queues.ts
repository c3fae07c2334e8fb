import { type Queue } from 'bullmq';
import { MAX_EVENTS } from '../keys.js';
import { type QueueLog } from '../log.js';
import { type QueueLink } from './queue-link.js';

/** BullMQ's queues, one per model: each is made when it is first used. */
export class BullmqQueues {
  readonly #queues = new Map<string, Queue>();

  constructor(
    private readonly link: QueueLink,
    private readonly log: Pick<QueueLog, 'debug'>,
    /** Undefined without a shared queue. */
    private readonly bullmq: { readonly Queue: typeof Queue } | undefined,
  ) {}

  of(model: string): Queue {
    const known = this.#queues.get(model);
    if (known) return known;
    const { redis, keys } = this.link;
    const queue = new this.bullmq!.Queue(keys.queue(model), {
      // A queue whose first command fails, while Redis hangs, would fail for ever: it
      // asks nothing before it is used.
      connection: redis,
      prefix: keys.prefix,
      skipWaitingForReady: true,
      skipVersionCheck: true,
      streams: { events: { maxLen: MAX_EVENTS } },
    });
    // The link reports its connection; what else goes wrong is answered by the call
    // that met it.
    queue.on('error', error => this.log.debug({ model, err: error }, 'queue'));
    this.#queues.set(model, queue);
    return queue;
  }

  async close(): Promise<void> {
    await Promise.all(
      [...this.#queues.values()].map(queue => queue.close().catch(() => undefined)),
    );
  }
}

import { randomUUID } from 'node:crypto';
import { ANNOUNCEMENT_TTL_MS, HEARTBEAT_MS } from '@switchyard/shared-queue/heartbeat.js';
import { type QueueJob } from '@switchyard/shared-queue/job.codec.js';
import { QueueKeys } from '@switchyard/shared-queue/keys.js';
import {
  readStopNote,
  type StopNote,
  type WorkerAnnouncement,
} from '@switchyard/shared-queue/messages.codec.js';
import { RedisOrder } from '@switchyard/shared-queue/order/redis-order.js';
import { type QueueJobResult, type JobValue } from '@switchyard/shared-queue/result.codec.js';
import { type WorkerHealthReport } from '@switchyard/worker-protocol/health.codec.js';
import { type Job, Worker } from 'bullmq';
import { type Redis } from 'ioredis';
import { redisClient } from './redis-client.js';

export interface PullerOptions {
  readonly url: string;
  readonly model: string;
  readonly prefix?: string;
  readonly id?: string;
  /** Milliseconds; nothing renews the lock. */
  readonly lockMs?: number;
  /** `queue.aging_share` */
  readonly agingShare?: number;
}

/** A job that the test holds. */
export interface HeldJob {
  readonly id: string;
  readonly data: QueueJob;
  complete(value?: JobValue): Promise<void>;
  /** Any result, or what is none. */
  completeWith(result: unknown): Promise<void>;
}

/**
 * The contract of a pull worker and nothing more: the order's script, then BullMQ's own
 * `Worker`, taking by hand; the test plays the engine.
 */
export class ScriptedPuller implements AsyncDisposable {
  readonly notes: StopNote[] = [];
  readonly #keys: QueueKeys;
  readonly #worker: Worker<QueueJob>;
  readonly #connections: Redis[];
  readonly #order: RedisOrder;
  #heart: NodeJS.Timeout | undefined;
  #isDead = false;

  private constructor(private readonly options: Required<PullerOptions>) {
    this.#keys = new QueueKeys(options.prefix);
    this.#connections = Array.from({ length: 2 }, () => redisClient(options.url));
    const { agingShare } = options;
    this.#order = new RedisOrder({
      redis: this.#commands,
      keys: this.#keys,
      agingMs: 30_000,
      agingShare,
    });
    this.#worker = new Worker<QueueJob>(this.#keys.queue(options.model), null, {
      connection: this.#commands,
      prefix: options.prefix,
      name: options.id,
      autorun: false,
      lockDuration: options.lockMs,
      stalledInterval: options.lockMs,
    });
    this.#worker.on('error', () => undefined);
  }

  /** Resolves when it is known to take work. */
  static async start(options: PullerOptions): Promise<ScriptedPuller> {
    const usual = {
      prefix: 'switchyard',
      id: `${options.model}-p`,
      lockMs: 30_000,
      agingShare: 0.25,
    };
    const puller = new ScriptedPuller({ ...usual, ...options });
    await puller.#listen();
    await puller.announce();
    puller.#heart = setInterval(() => void puller.announce().catch(() => undefined), HEARTBEAT_MS);
    return puller;
  }

  get #commands(): Redis {
    return this.#connections[0]!;
  }

  /** Waits for the next job, and holds it. Rejects when it has died. */
  async take(): Promise<HeldJob> {
    const token = randomUUID();
    while (!this.#isDead) {
      await this.#order.release(this.options.model).catch(() => undefined);
      const job = await this.#worker.getNextJob(token, { block: false }).catch(() => undefined);
      if (job) return this.#held(job, token);
      await new Promise(resolve => setTimeout(resolve, 5));
    }
    throw new Error('the puller has died');
  }

  /** Puts back what a dead worker held, once its lock is over. */
  async takeOver(): Promise<void> {
    await this.#worker.startStalledCheckTimer();
  }

  async announce(state: WorkerHealthReport['state'] = 'ready'): Promise<void> {
    const { id } = this.options;
    const announcement = JSON.stringify(announcementOf(this.options, state));
    await this.#commands.zadd(this.#keys.workers, Date.now(), id);
    await this.#commands.set(this.#keys.worker(id), announcement, 'PX', ANNOUNCEMENT_TTL_MS);
    await this.#commands.publish(this.#keys.announced, id);
  }

  /** No longer heard of, and holding what it holds. */
  async die(): Promise<void> {
    this.#isDead = true;
    clearInterval(this.#heart);
    await this.#commands.del(this.#keys.worker(this.options.id)).catch(() => undefined);
    await this.#commands.publish(this.#keys.announced, this.options.id).catch(() => undefined);
    await this.#worker.close(true).catch(() => undefined);
    for (const client of this.#connections) client.disconnect();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.die();
  }

  #held(job: Job<QueueJob>, token: string): HeldJob {
    const takenMs = Date.now();
    const completeWith = async (result: unknown): Promise<void> => {
      await job.moveToCompleted(result, token, false);
    };
    const complete = async (value = transcriptValue(job.data)): Promise<void> => {
      const totalMs = Date.now() - takenMs;
      const phases = {
        workerId: this.options.id,
        takenMs,
        batchWaitMs: 0,
        totalMs,
        attempts: job.attemptsStarted,
      };
      const execution = {
        prepMs: 1,
        readyWaitMs: 0,
        deviceMs: 2,
        batchSize: 1,
        batchId: job.id ?? '',
      };
      await this.#order.settle(this.options.model, job.id ?? '', execution.deviceMs);
      await completeWith({
        v: 1,
        outcome: 'completed',
        value,
        execution,
        phases,
      } satisfies QueueJobResult);
    };
    return { id: job.data.id, data: job.data, complete, completeWith };
  }

  async #listen(): Promise<void> {
    const listener = this.#connections[1]!;
    listener.on('message', (_channel: string, json: string) => {
      const note = readStopNote(json);
      if (note) this.notes.push(note);
    });
    await listener.subscribe(this.#keys.stops);
  }
}

const transcriptValue = ({ id }: QueueJob): JobValue => ({
  kind: 'transcript',
  transcript: {
    text: `text of ${id}`,
    language: 'en',
    durationS: 1,
    segments: [],
    words: [],
  },
});

function announcementOf(
  { id, model }: Required<PullerOptions>,
  state: WorkerHealthReport['state'],
): WorkerAnnouncement<WorkerHealthReport> {
  return {
    ...{
      v: 1,
      id,
      model,
      host: 'test',
      pid: process.pid,
      slots: { total: 1, inUse: 0 },
    },
    health: {
      ...{
        state,
        model,
        engine: 'scripted',
        device: 'cpu',
        revision: '1',
        kind: 'stt',
        maxBatch: 1,
        maxConcurrent: 1,
      },
      ...{
        streams: 0,
        capabilities: ['transcribe'],
        languages: [],
        inFlight: 0,
        maxMessageBytes: 1,
      },
    },
  };
}

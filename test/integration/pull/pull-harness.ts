import { join } from 'node:path';
import { QueueKeys } from '@switchyard/shared-queue/keys.js';
import {
  type DeadLetter,
  readAnnouncement,
  type StopNote,
  type WorkerAnnouncement,
} from '@switchyard/shared-queue/messages.codec.js';
import { type QueueJobResult } from '@switchyard/shared-queue/result.codec.js';
import { type Job, type JobsOptions, Queue } from 'bullmq';
import { type Redis } from 'ioredis';
import { type ModelSpec } from '../../../src/platform/config/model-spec.js';
import { settingsFrom } from '../../../src/platform/config/settings.js';
import {
  type WorkerSpec,
  pulledWork,
  type SharedQueueAccess,
} from '../../../src/platform/config/worker-spec.js';
import { FsBlobStore } from '../../../src/platform/storage/fs-blob-store.js';
import { redisClient } from '../../support/redis-client.js';
import { RedisServer } from '../../support/redis-server.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { until, WAIT_LIMIT_MS } from '../../support/waiting.js';
import { sttModel, type WorkerChange, WorkerProcess } from '../worker/worker-process.js';

export interface PullQueueOptions {
  readonly model?: ModelSpec;
  readonly sharedQueue?: Partial<SharedQueueAccess>;
  readonly pull?: Partial<WorkerSpec['pull']>;
}

const PREFIX = 'test';

/**
 * A Redis, a folder of blobs and one queue, as any BullMQ client sees them: nothing of
 * the gateway's is here.
 */
export class PullQueue implements AsyncDisposable {
  readonly keys = new QueueKeys(PREFIX);
  readonly workers: WorkerProcess[] = [];
  readonly queue: Queue;
  readonly client: Redis;
  readonly blobs: FsBlobStore;
  readonly #connections: Redis[];
  readonly model: ModelSpec;

  private constructor(
    readonly redis: RedisServer,
    readonly folder: string,
    private readonly options: PullQueueOptions,
  ) {
    this.model = options.model ?? sttModel;
    const connect = (): Redis => {
      const client = redisClient(redis.url, {
        retryStrategy: () => 50,
      });
      return client;
    };
    this.#connections = [connect(), connect()];
    const [client, writer] = this.#connections as [Redis, Redis];
    this.client = client;
    const name = this.keys.queue(this.model.id);
    this.queue = new Queue(name, { connection: writer, prefix: PREFIX });
    this.queue.on('error', () => undefined);
    this.blobs = new FsBlobStore(join(folder, 'blobs'));
  }

  static async start(options: PullQueueOptions = {}): Promise<PullQueue> {
    const folder = temporaryFolder();
    const harness = new PullQueue(await RedisServer.start(), folder, options);
    return harness;
  }

  /** A worker process; resolves when it is ready to take. */
  async worker(change: WorkerChange = {}, added?: NodeJS.ProcessEnv): Promise<WorkerProcess> {
    const worker = this.spawn(change, added);
    await worker.told('ready');
    return worker;
  }

  spawn(change: WorkerChange = {}, added?: NodeJS.ProcessEnv): WorkerProcess {
    const settings = settingsFrom({
      'batching.policy': 'none',
      'queue.driver': 'redis',
      'redis.url': this.redis.url,
    });
    const { sharedQueue: usual, pull } = pulledWork(this.model, settings);
    const sharedQueue: SharedQueueAccess = {
      ...usual!,
      ...{ prefix: PREFIX, lockMs: 3000, resultTtlMs: 60_000 },
      data: { ...usual!.data, dir: this.folder },
      ...this.options.sharedQueue,
    };
    const workerId = `worker-${this.workers.length + 1}`;
    const spec = { workerId, model: this.model, sharedQueue };
    const own = { pull: { ...pull!, ...this.options.pull }, ...change };
    const worker = new WorkerProcess({ ...spec, ...own }, added);
    this.workers.push(worker);
    return worker;
  }

  /** Audio of the synthetic engine is whatever bytes; it echoes them. */
  async audio(text: string | Buffer): Promise<{ readonly blob: string }> {
    const blob = `plane/${crypto.randomUUID()}`;
    await this.blobs.write(blob, bytesOf(text));
    return { blob };
  }

  /** A transcription of those bytes. */
  async submit(
    text: string | Buffer,
    { fields = {}, options = {} }: Submission = {},
  ): Promise<Job> {
    const data = {
      v: 1,
      kind: 'transcription',
      audio: await this.audio(text),
      ...fields,
    };
    return this.queue.add('request', data, { priority: 3, ...options });
  }

  /**
   * What the job ended with; a job that BullMQ itself failed rejects with its reason.
   * Asked for: events would not outlive a Redis.
   */
  async result({ id }: Job, limitMs?: number): Promise<QueueJobResult> {
    const ended: Job[] = [];
    const hasEnded = async (): Promise<boolean> => {
      const found = (await this.queue.getJob(id!)) as Job | undefined;
      if (found?.finishedOn !== undefined) ended.push(found);
      return ended.length > 0;
    };
    await this.until(`job ${id} has ended`, hasEnded, limitMs);
    const [job] = ended as [Job];
    if (job.failedReason) throw new Error(job.failedReason);
    return job.returnvalue as QueueJobResult;
  }

  async results(jobs: readonly Job[], limitMs?: number): Promise<QueueJobResult[]> {
    return Promise.all(jobs.map(job => this.result(job, limitMs)));
  }

  /** As a gateway cancels it. */
  async stop({ id }: Job): Promise<void> {
    const note: StopNote = { queue: this.queue.name, jobId: id!, reason: 'client' };
    await this.client.set(this.keys.stop(this.queue.name, id!), JSON.stringify(note), 'PX', 60_000);
    await this.client.publish(this.keys.stops, JSON.stringify(note));
  }

  /** Redis key of the lock of a job. */
  lockOf({ id }: Job): string {
    return `${PREFIX}:${this.queue.name}:${id}:lock`;
  }

  async deadLetters(): Promise<DeadLetter[]> {
    const found = await this.client.lrange(this.keys.dead(this.model.id), 0, -1);
    return found.map(text => JSON.parse(text) as DeadLetter);
  }

  async announcement(workerId: string): Promise<WorkerAnnouncement | undefined> {
    const known = await this.client.zrange(this.keys.workers, '0', '-1');
    const id = known.find(name => name.startsWith(`${workerId}.`));
    return id === undefined
      ? undefined
      : readAnnouncement(await this.client.get(this.keys.worker(id)));
  }

  until(
    what: string,
    holds: () => Promise<boolean> | boolean,
    limitMs = WAIT_LIMIT_MS,
  ): Promise<void> {
    const told = () => this.workers.map(({ log }) => log.slice(-2000));
    return until(holds, { what, limitMs, told });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.workers.map(worker => worker.kill()));
    await this.queue.close().catch(() => undefined);
    for (const client of this.#connections) client.disconnect();
    await this.redis[Symbol.asyncDispose]();
  }
}

export interface Submission {
  readonly fields?: object;
  readonly options?: JobsOptions;
}

// eslint-disable-next-line @typescript-eslint/require-await -- a blob is written from a stream
async function* bytesOf(audio: string | Buffer): AsyncGenerator<Uint8Array> {
  yield typeof audio === 'string' ? Buffer.from(audio) : audio;
}

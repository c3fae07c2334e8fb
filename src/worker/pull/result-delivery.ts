import { Inject, Injectable } from '@nestjs/common';
import { type Logger } from 'pino';
import { type PlaneResult } from '../../contracts/plane/plane-result.js';
import { WORKER_LOG } from '../lifecycle/worker-log.js';
import { CallbackOutbox } from './callbacks/callback-outbox.js';
import { persistently } from './persistently.js';
import { PLANE_WORK, type PlaneWork } from './plane-work.js';
import { type PulledJob } from './pulled-job.js';
import { JobLost, RequestQueue } from './request-queue.js';

/** Results on their way into the queue, where whoever waits is told of them. What Redis does not take is kept until the lock is lost. */
@Injectable()
export class ResultDelivery {
  constructor(
    @Inject(WORKER_LOG) private readonly log: Logger,
    @Inject(PLANE_WORK) private readonly work: PlaneWork,
    private readonly queue: RequestQueue,
    private readonly outbox: CallbackOutbox,
  ) {}

  /** Never rejects. */
  async deliver(pulled: PulledJob, result: PlaneResult): Promise<void> {
    const { job, order } = pulled;
    const settled = await this.#try(pulled, 'result', async () => {
      // Before the result: whatever dies in between, the callback is there and looks for it.
      await this.outbox.promise(pulled);
      await this.queue.complete(job, result);
    });
    if (!settled) return this.#discard(result);
    this.#tell(pulled, result);
    if (order.callback) await this.outbox.due(pulled);
  }

  /** To the front of the queue; never rejects. */
  async giveBack(pulled: PulledJob, why: string): Promise<void> {
    const given = await this.#try(pulled, 'return', () => this.queue.giveBack(pulled.job));
    if (given) this.log.info({ event: 'job_given_back', jobId: pulled.job.id, why }, `Given back: ${why}`);
  }

  async #try({ job, gone }: PulledJob, what: string, work: () => Promise<void>): Promise<boolean> {
    let attempts = 0;
    const failed = (error: Error, attempt: number): void => {
      attempts = attempt;
      if (attempt === 1)
        this.log.warn({ event: 'delivery_failed', jobId: job.id, what, err: error }, 'Redis took no answer; kept');
    };
    try {
      await persistently(work, { signal: gone.signal, failed });
      return true;
    } catch (error) {
      // After a broken connection the first attempt may have been carried out without a word.
      const why = error instanceof JobLost && attempts > 0 ? 'it was delivered before, or ' : '';
      const reason = `${why}another worker has the job`;
      this.log.warn(
        { event: 'late_answer_dropped', jobId: job.id, what, reason },
        `A late ${what} is dropped: ${reason}`,
      );
      return false;
    }
  }

  /** "Batch item transcribed" of the seed. */
  #tell({ job, order }: PulledJob, result: PlaneResult): void {
    const fields = { event: 'item_done', jobId: job.id, outcome: result.outcome, ...result.phases };
    if (result.outcome !== 'completed') return this.log.debug(fields, `Batch item ${result.outcome}`);
    const { deviceMs, batchSize } = result.execution;
    const told = { ...fields, deviceMs, batchSize, ...about(result.value) };
    this.log.debug(told, `Batch item ${DONE[order.kind]}: ${words(about(result.value))} gpu_time=${seconds(deviceMs)}`);
  }

  async #discard(result: PlaneResult): Promise<void> {
    if (result.outcome !== 'completed') return;
    await this.work.discard(result.value).catch((error: unknown) => {
      this.log.warn({ event: 'blob_left', err: error }, 'Audio of a dropped answer could not be removed');
    });
  }
}

const DONE = {
  transcription: 'transcribed',
  translation: 'translated',
  speech: 'spoken',
  embedding: 'embedded',
} as const;

type Value = Extract<PlaneResult, { outcome: 'completed' }>['value'];

function about(value: Value): Readonly<Record<string, string | number>> {
  switch (value.kind) {
    case 'transcript':
      return {
        language: value.transcript.language.toUpperCase(),
        duration: seconds(value.transcript.durationS * 1000),
      };
    case 'speech':
      return { duration: seconds(value.durationS * 1000) };
    case 'embeddings':
      return { dimensions: value.dimensions };
  }
}

const words = (fields: Readonly<Record<string, string | number>>): string =>
  Object.entries(fields)
    .map(([name, value]) => `${name}=${value}`)
    .join(' ');

const seconds = (ms: number): string => `${(ms / 1000).toFixed(2)}s`;

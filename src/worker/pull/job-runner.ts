import { Injectable } from '@nestjs/common';
import { DeviceGone } from '@switchyard/engine-api/engine.js';
import { pause } from '@switchyard/engine-api/process/pause.js';
import { type JobCallback, type QueueJob } from '@switchyard/shared-queue/job.codec.js';
import { QueueJobClass } from '@switchyard/shared-queue/keys.js';
import { type StopNote } from '@switchyard/shared-queue/messages.codec.js';
import {
  encodeJobError,
  type JobValue,
  type QueueJobResult,
} from '@switchyard/shared-queue/result.codec.js';
import { RequestQueue, retryUntilAborted } from '@switchyard/shared-queue/worker/request-queue.js';
import {
  type PulledGroup,
  type PulledJob,
  type TakenJob,
} from '@switchyard/shared-queue/worker/taken-job.js';
import { type CallEnvelope } from '@switchyard/worker-protocol/call.codec.js';
import { DomainError } from '../../core/errors/domain-error.js';
import { inferenceTimeout } from '../../core/request/device-progress.js';
import { RequestPriority } from '../../core/request/request-priority.js';
import { type Suspicion } from '../../core/request/retry-budget.js';
import { DeviceTimeout } from '../../platform/process/device-timeout.js';
import { InFlightCalls } from '../lifecycle/in-flight-calls.js';
import { CrashMarkers } from './crash-markers.js';
import { JobWork } from './job-work.js';
import { ResultDelivery } from './result-delivery.js';
import { StopListener } from './stop-listener.js';

/**
 * The envelope of a call. Its id is that of the job: ids of different
 * tenants never collide.
 */
const envelopeOf = ({ job, order }: PulledJob, group: PulledGroup): CallEnvelope => ({
  requestId: job.id,
  priority: isRealtime(job, order) ? RequestPriority.REALTIME : RequestPriority.BATCH,
  group: { id: group.id, size: group.size, timeLimitMs: order.timeoutMs },
});

/** Aged BATCH counts as REALTIME (D-03). Without a class the job's data decide. */
const isRealtime = ({ priority }: TakenJob, order: QueueJob): boolean =>
  priority === QueueJobClass.AGED ||
  priority === QueueJobClass.REALTIME ||
  (priority === 0 && order.priority === 'realtime');

/** A file of the folder of secrets, never a path out of it. */
const SECRET_NAME = /^[A-Za-z0-9_-][A-Za-z0-9._-]*$/;

/**
 * Checked before any work is done; the address itself is checked when the
 * callback is sent.
 * @throws DomainError `webhook_refused`
 */
function assertCallback({ url, secretName }: JobCallback): void {
  const protocol = URL.parse(url)?.protocol;
  if (protocol !== 'http:' && protocol !== 'https:')
    throw refused('its URL must be http or https', 'callback.url');
  if (secretName !== undefined && !SECRET_NAME.test(secretName)) {
    throw refused('`secretName` must be the name of a file', 'callback.secretName');
  }
}

const refused = (why: string, param: string): DomainError =>
  new DomainError('webhook_refused', `The callback is refused: ${why}.`, { param });

/** The job was stopped by a gateway, which has answered the caller. */
class Stopped extends DomainError {
  constructor({ reason }: StopNote) {
    super('request_cancelled', `The request was cancelled (${reason}).`);
  }
}

/**
 * Codes of work that was not started: another worker takes it, or this one when its
 * upstream is back.
 */
const NOT_STARTED: readonly string[] = [
  'shutting_down',
  'upstream_unavailable',
  'storage_unavailable',
];
/** A store that is away fails the next job, too: before that, it has time to come back. */
const STORAGE_PAUSE_MS = 1000;

/** How a job leaves this worker. */
type Ending = { readonly result: QueueJobResult<JobValue> } | { readonly giveBack: string };

/** Runs one pulled job to its end, through the same stages as a gRPC call. */
@Injectable()
export class JobRunner {
  constructor(
    private readonly queue: RequestQueue,
    private readonly work: JobWork,
    private readonly calls: InFlightCalls,
    private readonly stops: StopListener,
    private readonly markers: CrashMarkers,
    private readonly delivery: ResultDelivery,
  ) {}

  /** Never rejects; nothing of the job is left in this worker when it resolves. */
  async run(pulled: PulledJob, group: PulledGroup, suspicion: Suspicion): Promise<void> {
    const { job, lock } = pulled;
    using _ = lock;
    try {
      await this.calls.run({ id: job.id }, undefined, async signal => {
        const ending = await this.#ending(pulled, group, suspicion, signal);
        if ('giveBack' in ending) await this.delivery.giveBack(pulled, ending.giveBack);
        else await this.delivery.deliver(pulled, ending.result);
      });
    } catch (error) {
      // It was not accepted: the worker is not ready any more, or still runs
      // the same job.
      await this.delivery.giveBack(pulled, (error as Error).message);
    } finally {
      this.markers.left(job);
    }
  }

  async #ending(
    pulled: PulledJob,
    group: PulledGroup,
    suspicion: Suspicion,
    signal: AbortSignal,
  ): Promise<Ending> {
    const { job, order, gone } = pulled;
    const stop = new AbortController();
    const deadline = new DeviceTimeout({
      limitMs: order.timeoutMs,
      ask: () => this.calls.progress(job.id),
      onOverdue: () => stop.abort(inferenceTimeout(order.timeoutMs)),
    });
    const either = AbortSignal.any([signal, stop.signal, gone.signal]);
    try {
      using _ = await this.#watched(pulled, stop);
      this.#admit(pulled, suspicion);
      if (either.aborted) throw either.reason as Error;
      const answer = await this.work.perform(order, envelopeOf(pulled, group), either);
      const phases = this.#phases(pulled, group);
      return { result: { v: 1, outcome: 'completed', ...answer, phases } };
    } catch (error) {
      return await this.#failed(pulled, group, either.aborted ? either.reason : error);
    } finally {
      deadline.stop();
    }
  }

  #watched({ job, gone }: PulledJob, stop: AbortController): Promise<Disposable> {
    return retryUntilAborted(
      () => this.stops.watch(job.id, note => stop.abort(new Stopped(note))),
      gone,
    );
  }

  /** @throws DomainError for a job that must not begin */
  #admit({ job, order }: PulledJob, suspicion: Suspicion): void {
    if (order.callback) assertCallback(order.callback);
    if (order.deadlineMs !== undefined && order.deadlineMs < job.takenMs) {
      throw new DomainError('queue_timeout', 'No worker took the job before its deadline.');
    }
    this.markers.admit(job, suspicion);
  }

  async #failed(pulled: PulledJob, group: PulledGroup, error: unknown): Promise<Ending> {
    const phases = this.#phases(pulled, group);
    if (error instanceof Stopped) return { result: { v: 1, outcome: 'cancelled', phases } };
    if (error instanceof DomainError && NOT_STARTED.includes(error.code)) {
      if (error.code === 'storage_unavailable') await pause(STORAGE_PAUSE_MS, pulled.gone.signal);
      return { giveBack: error.message };
    }
    if (error instanceof DeviceGone) return this.#deviceDied(pulled, error);
    return { result: { v: 1, outcome: 'failed', error: encodeJobError(error), phases } };
  }

  /** The engine's process died: handled like a crash of this worker. */
  async #deviceDied({ job, gone }: PulledJob, error: DeviceGone): Promise<Ending> {
    await retryUntilAborted(() => this.markers.died(job, error), gone).catch(() => undefined);
    return { giveBack: error.message };
  }

  #phases({ job }: PulledJob, { waitedMs }: PulledGroup) {
    const { workerId } = this.queue;
    const totalMs = Math.max(0, this.queue.nowMs() - job.takenMs);
    return {
      workerId,
      takenMs: job.takenMs,
      batchWaitMs: waitedMs,
      totalMs,
      attempts: job.stalledCounter + 1,
    };
  }
}

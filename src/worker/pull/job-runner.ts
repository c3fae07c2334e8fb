import { Inject, Injectable } from '@nestjs/common';
import { type StopNote } from '../../contracts/queue-jobs/queue-messages.js';
import { encodeJobError, type LoadedResult } from '../../contracts/queue-jobs/job-result.js';
import { DomainError } from '../../core/shared/domain-error.js';
import { WORKER_SPEC, type WorkerSpec } from '../../platform/config/worker-spec.js';
import { DeviceGone } from '../engines/device-gone.js';
import { type CancellableCall } from '../grpc/call-signal.js';
import { InFlightCalls } from '../grpc/in-flight-calls.js';
import { assertCallback } from './callbacks/callback-address.js';
import { DeathMarks } from './death-marks.js';
import { envelopeOf } from './job-envelope.js';
import { persistently } from './persistently.js';
import { PLANE_WORK, type PlaneWork } from './plane-work.js';
import { type PulledGroup, type PulledJob } from './pulled-job.js';
import { ResultDelivery } from './result-delivery.js';
import { StopListener } from './stop-listener.js';

/** Stopped from outside; whoever did it has told the caller. */
class Stopped extends DomainError {
  constructor({ reason }: StopNote) {
    super('request_cancelled', `The request was cancelled (${reason}).`);
  }
}

/** What is to become of a job. */
type Ending = { readonly result: LoadedResult } | { readonly giveBack: string };

/** Nobody is at the other end: a pulled job is stopped by notes, by its deadlines and by shutdown. */
const NO_CALLER: CancellableCall = { cancelled: false, once: () => undefined, off: () => undefined };

/** One pulled job from here to its end, through the same stages as a call that was sent. */
@Injectable()
export class JobRunner {
  constructor(
    @Inject(WORKER_SPEC) private readonly spec: WorkerSpec,
    @Inject(PLANE_WORK) private readonly work: PlaneWork,
    private readonly calls: InFlightCalls,
    private readonly stops: StopListener,
    private readonly marks: DeathMarks,
    private readonly delivery: ResultDelivery,
  ) {}

  /** Never rejects; nothing of the job is left here when it resolves. */
  async run(pulled: PulledJob, group: PulledGroup): Promise<void> {
    const { job, lock } = pulled;
    using _ = lock;
    try {
      await this.calls.run(job.id, NO_CALLER, async signal =>
        this.#end(pulled, await this.#work(pulled, group, signal)),
      );
    } catch (error) {
      // It was not let in: the worker is not ready any more, or had the same job a moment ago.
      await this.delivery.giveBack(pulled, (error as Error).message);
    } finally {
      this.marks.left(job);
    }
  }

  async #end(pulled: PulledJob, ending: Ending): Promise<void> {
    if ('giveBack' in ending) await this.delivery.giveBack(pulled, ending.giveBack);
    else await this.delivery.deliver(pulled, ending.result);
  }

  async #work(pulled: PulledJob, group: PulledGroup, signal: AbortSignal): Promise<Ending> {
    const { job, order, gone } = pulled;
    const stop = new AbortController();
    const timer = setTimeout(() => stop.abort(timedOut(order.timeoutMs)), order.timeoutMs);
    const either = AbortSignal.any([signal, stop.signal, gone.signal]);
    try {
      using _ = await persistently(() => this.stops.watch(job.id, note => stop.abort(new Stopped(note))), gone);
      const envelope = await this.#admit(pulled, group);
      if (either.aborted) throw either.reason as Error;
      const answer = await this.work.perform(order, envelope, either);
      return { result: { v: 1, outcome: 'completed', ...answer, phases: this.#phases(pulled, group) } };
    } catch (error) {
      return await this.#failed(pulled, group, either.aborted ? either.reason : error);
    } finally {
      clearTimeout(timer);
    }
  }

  /** @throws DomainError for a job that must not begin */
  async #admit({ job, order, gone }: PulledJob, group: PulledGroup) {
    if (order.callback) assertCallback(order.callback);
    if (order.deadlineMs !== undefined && order.deadlineMs < job.takenMs) {
      throw new DomainError('queue_timeout', 'No worker took the job before its deadline.');
    }
    const verdict = await persistently(() => this.marks.verdict(job), gone);
    if (verdict.kind === 'give_up' || job.condemned) throw workerLost();
    this.marks.admitted(job, verdict.alone);
    return envelopeOf({ job, order }, group, verdict.mostTogether);
  }

  async #failed(pulled: PulledJob, group: PulledGroup, error: unknown): Promise<Ending> {
    const phases = this.#phases(pulled, group);
    if (error instanceof Stopped) return { result: { v: 1, outcome: 'cancelled', phases } };
    if (error instanceof DomainError && error.code === 'shutting_down') return { giveBack: error.message };
    if (error instanceof DeviceGone) return this.#deviceDied(pulled, error);
    return { result: { v: 1, outcome: 'failed', error: encodeJobError(error), phases } };
  }

  /** The engine's own process died: as if this worker had, only faster. */
  async #deviceDied({ job, gone }: PulledJob, error: DeviceGone): Promise<Ending> {
    await persistently(() => this.marks.died(job), gone).catch(() => undefined);
    return { giveBack: error.message };
  }

  #phases({ job }: PulledJob, { waitedMs }: PulledGroup) {
    const { workerId } = this.spec;
    const totalMs = Math.max(0, Date.now() - job.takenMs);
    return { workerId, takenMs: job.takenMs, batchWaitMs: waitedMs, totalMs, attempts: job.deaths + 1 };
  }
}

const timedOut = (ms: number): DomainError =>
  new DomainError('inference_timeout', `The worker had the request for longer than ${ms} ms.`);

const workerLost = (): DomainError =>
  new DomainError('worker_lost', 'Every worker that had the job died with it; the last ones had nothing else.');

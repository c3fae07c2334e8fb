import { EventEmitter, once } from 'node:events';
import { Inject, Injectable } from '@nestjs/common';
import { QueueJobClass } from '@switchyard/shared-queue/keys.js';
import { type PulledGroup, type PulledJob } from '@switchyard/shared-queue/worker/taken-job.js';
import { SpeechPace } from '../../core/latency/speech-pace.js';
import { WorkerSpec } from '../../platform/config/worker-spec.js';
import { ENGINE, type WorkerEngine } from '../engines/worker-engine.js';
import { deviceLimits } from '../execution/micro-batcher.js';
import { overdraftOf } from '../execution/sentences.js';
import { CrashMarkers } from './crash-markers.js';
import { JobRunner } from './job-runner.js';
import { ResultDelivery } from './result-delivery.js';

/**
 * Jobs of this worker between queue and result, and how many more it may take (D-24): one
 * group per concurrent call, and one ahead.
 */
@Injectable()
export class HeldJobs {
  /** By job id; each resolves when the job has left this worker. */
  readonly #passages = new Map<string, Promise<void>>();
  /** Of them, those that are BATCH. */
  readonly #batch = new Set<string>();
  readonly #changes = new EventEmitter();
  #drained = false;

  constructor(
    private readonly spec: WorkerSpec,
    @Inject(ENGINE) private readonly engine: WorkerEngine,
    private readonly runner: JobRunner,
    private readonly delivery: ResultDelivery,
    private readonly markers: CrashMarkers,
    private readonly pace: SpeechPace,
  ) {
    engine.away$?.subscribe(() => this.#changes.emit('left'));
  }

  /** An operator drained it: those that are held finish. */
  get drained(): boolean {
    return this.#drained;
  }

  set drained(drained: boolean) {
    this.#drained = drained;
    this.#changes.emit('left');
  }

  /** Why this worker takes no job now; undefined: it does. */
  get refusal(): string | undefined {
    if (this.#drained) return 'the worker is drained';
    // What computes in place of the engine: a job would only come back.
    return this.engine.away$?.value ? 'the upstream cannot be reached' : undefined;
  }

  /** Limits of groups, read each time: an engine knows them only after loading. */
  rules() {
    const { maxBatch: maxSize } = deviceLimits(this.engine.info, this.spec);
    return { ...this.spec.pull!, maxSize };
  }

  get size(): number {
    return this.#passages.size;
  }

  outlook() {
    return { room: this.#most - this.size, idle: this.size === 0 };
  }

  ids(): ReadonlySet<string> {
    return new Set(this.#passages.keys());
  }

  /** Resolves when one more may be taken, or on abort. */
  async room(signal: AbortSignal): Promise<void> {
    while ((this.refusal !== undefined || this.size >= this.#most) && !signal.aborted)
      await once(this.#changes, 'left', { signal }).catch(() => undefined);
  }

  /**
   * A suspect shares this worker with its like only (D-38): it begins when nothing else
   * is left, what may not run beside it is returned, and it has left when this resolves.
   */
  async begin(jobs: readonly PulledJob[], group: PulledGroup): Promise<void> {
    const suspicions = await Promise.all(jobs.map(pulled => this.markers.suspicion(pulled)));
    const most = suspicions[0]?.mostTogether;
    const together = jobs
      .filter((_, index) => suspicions[index]?.mostTogether === most)
      .slice(0, most);
    this.giveBack(
      jobs.filter(pulled => !together.includes(pulled)),
      'a suspect of a crash runs without it',
    );
    if (most !== undefined) await this.empty();
    for (const pulled of together) {
      const suspicion = suspicions[jobs.indexOf(pulled)]!;
      void this.#hold(pulled, () =>
        this.runner.run(pulled, { ...group, size: together.length }, suspicion),
      );
    }
    if (most !== undefined) await this.empty();
  }

  /** Returns jobs that were taken and never begun. */
  giveBack(jobs: readonly PulledJob[], why: string): void {
    for (const pulled of jobs) {
      void this.#hold(pulled, async () => {
        using _ = pulled.lock;
        await this.delivery.giveBack(pulled, why);
      });
    }
  }

  /** Resolves when no job is left. */
  async empty(): Promise<void> {
    while (this.size > 0) await once(this.#changes, 'left');
  }

  /**
   * Speech is taken beyond the slots while all of it is REALTIME (D-57): a job shows its
   * class only when it is taken.
   */
  get #most(): number {
    const { engine, spec, pace } = this;
    const { maxBatch, maxConcurrent } = deviceLimits(engine.info, spec);
    const capacity = maxBatch * (maxConcurrent + 1);
    if (engine.kind !== 'tts' || this.#batch.size > 0) return capacity;
    return capacity + (overdraftOf(engine, spec, pace) ?? 0);
  }

  /** A job that was lost here and comes back waits until its first run has ended. */
  async #hold({ job: { id, priority } }: PulledJob, pass: () => Promise<void>): Promise<void> {
    if (priority >= QueueJobClass.BATCH) this.#batch.add(id);
    const passage = (this.#passages.get(id) ?? Promise.resolve()).then(pass);
    this.#passages.set(id, passage);
    await passage;
    if (this.#passages.get(id) === passage) {
      this.#passages.delete(id);
      this.#batch.delete(id);
    }
    this.#changes.emit('left');
  }
}

import { Inject, Injectable, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { type Logger } from 'pino';
import { type Subscription } from 'rxjs';
import { BatchJournal } from '../execution/batch-journal.js';
import { WORKER_LOG } from '../lifecycle/worker-log.js';
import { type WorkerPhase, WorkerState } from '../lifecycle/worker-state.js';
import { DeathMarks } from './death-marks.js';
import { PullJournal } from './pull-journal.js';
import { PullParts } from './pull-parts.js';

/** Pulls while the worker is ready; the worker's own drain waits for what is in hand. */
@Injectable()
export class PullWorker implements OnModuleInit, OnApplicationShutdown {
  #phases: Subscription | undefined;
  #stopped: Promise<void> | undefined;

  constructor(
    @Inject(WORKER_LOG) private readonly log: Logger,
    @Inject(BatchJournal) private readonly journal: BatchJournal,
    private readonly state: WorkerState,
    private readonly marks: DeathMarks,
    private readonly parts: PullParts,
  ) {}

  onModuleInit(): void {
    if (this.journal instanceof PullJournal) this.journal.markWith(this.marks);
    this.#phases = this.state.phase$.subscribe(phase => this.#became(phase));
  }

  /** After the drain: results are in, or could not be delivered in its time. */
  async onApplicationShutdown(): Promise<void> {
    this.#phases?.unsubscribe();
    void this.#stop();
    await this.parts.close();
  }

  #became(phase: WorkerPhase): void {
    if (phase === 'ready') this.#start();
    else if (phase === 'draining') void this.#stop();
    this.parts.announcer.beat();
  }

  #start(): void {
    void this.parts.start();
    this.log.info({ event: 'pull_started', queue: this.parts.queue.name }, `Pulling from ${this.parts.queue.name}`);
  }

  #stop(): Promise<void> {
    return (this.#stopped ??= this.parts.stop());
  }
}

import { setTimeout as sleep } from 'node:timers/promises';
import {
  Inject,
  Injectable,
  type OnApplicationShutdown,
  type OnModuleInit,
} from '@nestjs/common';
import { type Logger } from 'pino';
import { type Subscription } from 'rxjs';
import { BatchJournal } from '../execution/batch-journal.js';
import { WORKER_LOG } from '../lifecycle/worker-log.js';
import { type WorkerPhase, WorkerState } from '../lifecycle/worker-state.js';
import { Announcer } from './announcer.js';
import { CrashMarkers, PullJournal } from './crash-markers.js';
import { HeldJobs } from './held-jobs.js';
import { Callbacks } from './callbacks.js';
import { LockKeeper } from './lock-keeper.js';
import { PullLoop } from './pull-loop.js';
import { RequestQueue } from './request-queue.js';

/** How long results and returned jobs may take to be sent after the drain. */
const FLUSH_MS = 2000;

/** Starts and stops the parts of a pull worker in order. */
@Injectable()
export class PullParts {
  constructor(
    readonly announcer: Announcer,
    readonly queue: RequestQueue,
    private readonly loop: PullLoop,
    private readonly held: HeldJobs,
    private readonly callbacks: Callbacks,
    private readonly locks: LockKeeper,
  ) {}

  async start(): Promise<void> {
    this.announcer.start();
    this.queue.start();
    this.callbacks.start();
    // No job may be taken before its lock can be renewed.
    await this.locks.start();
    this.loop.start();
  }

  /** Takes no more jobs. Resolves when those that have not begun are being returned. */
  async stop(): Promise<void> {
    this.queue.stop();
    await this.loop.stop();
  }

  /**
   * Takes at most `FLUSH_MS`; then the connections are closed, whatever still
   * waits for Redis.
   */
  async close(): Promise<void> {
    await Promise.race([this.#flushed(), sleep(FLUSH_MS)]);
    this.queue.close();
    await this.callbacks.close();
    await this.locks.close();
  }

  async #flushed(): Promise<void> {
    await this.stop();
    await this.held.empty();
    await this.announcer.leave();
  }
}

/** Pulls while the worker is ready; the worker's own drain waits for held jobs. */
@Injectable()
export class PullWorker implements OnModuleInit, OnApplicationShutdown {
  #phases: Subscription | undefined;
  #stopped: Promise<void> | undefined;

  constructor(
    @Inject(WORKER_LOG) private readonly log: Logger,
    @Inject(BatchJournal) private readonly journal: BatchJournal,
    private readonly state: WorkerState,
    private readonly markers: CrashMarkers,
    private readonly parts: PullParts,
  ) {}

  onModuleInit(): void {
    if (this.journal instanceof PullJournal) this.journal.markWith(this.markers);
    this.#phases = this.state.phase$.subscribe(phase => this.#became(phase));
  }

  /** After the drain: results are delivered, or its time is over. */
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
    this.log.info(
      { event: 'pull_started', queue: this.parts.queue.name },
      `Pulling from ${this.parts.queue.name}`,
    );
  }

  #stop(): Promise<void> {
    return (this.#stopped ??= this.parts.stop());
  }
}

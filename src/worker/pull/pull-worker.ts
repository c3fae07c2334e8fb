import { setTimeout as sleep } from 'node:timers/promises';
import { Inject, Injectable, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { type Logger } from 'pino';
import { type Subscription } from 'rxjs';
import { BatchJournal } from '../execution/batch-journal.js';
import { WORKER_LOG } from '../lifecycle/worker-log.js';
import { type WorkerPhase, WorkerState } from '../lifecycle/worker-state.js';
import { Announcer } from './announcer.js';
import { CrashMarkers, PullJournal } from './crash-markers.js';
import { HeldJobs } from './held-jobs.js';
import { BackgroundTasks } from './background-tasks.js';
import { PullConnections } from './pull-connections.js';
import { PullLoop } from './pull-loop.js';
import { RequestQueue } from './request-queue.js';

/** How long answers and returned jobs may take to leave after the drain; a Redis that is away is not waited for. */
const FLUSH_MS = 2000;

/** The parts of a worker that pulls, in the order in which they start and stop. */
@Injectable()
export class PullParts {
  constructor(
    readonly announcer: Announcer,
    readonly queue: RequestQueue,
    private readonly loop: PullLoop,
    private readonly care: BackgroundTasks,
    private readonly hand: HeldJobs,
    private readonly connections: PullConnections,
  ) {}

  async start(): Promise<void> {
    this.announcer.start();
    await this.care.start();
    this.loop.start();
  }

  /** Nothing more is taken. Resolves when what was taken and not begun is on its way back. */
  async stop(): Promise<void> {
    this.care.stop();
    await this.loop.stop();
  }

  /** Never longer than `FLUSH_MS`: then the connections go, and with them whatever still waits for Redis. */
  async close(): Promise<void> {
    await Promise.race([this.#flushed(), sleep(FLUSH_MS)]);
    this.connections.close();
    await this.care.close();
  }

  async #flushed(): Promise<void> {
    await this.stop();
    await this.hand.empty();
    await this.announcer.leave();
  }
}

/** Pulls while the worker is ready; the worker's own drain waits for what is in hand. */
@Injectable()
export class PullWorker implements OnModuleInit, OnApplicationShutdown {
  #phases: Subscription | undefined;
  #stopped: Promise<void> | undefined;

  constructor(
    @Inject(WORKER_LOG) private readonly log: Logger,
    @Inject(BatchJournal) private readonly journal: BatchJournal,
    private readonly state: WorkerState,
    private readonly marks: CrashMarkers,
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

import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { LockKeeper } from '@switchyard/shared-queue/worker/lock-keeper.js';
import { RequestQueue } from '@switchyard/shared-queue/worker/request-queue.js';
import { type Subscription } from 'rxjs';
import { WorkerState } from '../lifecycle/worker-state.js';
import { Announcer } from './announcer.js';
import { Callbacks } from './callbacks.js';
import { PullLoop } from './pull-loop.js';

/** How long results and returned jobs may take to be sent after the drain. */
const FLUSH_MS = 2000;

/**
 * Starts and stops the parts of a pull worker in order. It pulls while the worker is
 * ready; the worker's own drain waits for held jobs.
 */
@Injectable()
export class PullWorker implements OnModuleInit, OnApplicationShutdown {
  #phases: Subscription | undefined;

  constructor(
    private readonly state: WorkerState,
    private readonly announcer: Announcer,
    private readonly queue: RequestQueue,
    private readonly loop: PullLoop,
    private readonly callbacks: Callbacks,
    private readonly locks: LockKeeper,
  ) {}

  onModuleInit(): void {
    this.announcer.pulls(this.loop);
    this.#phases = this.state.phase$.subscribe(phase => {
      if (phase === 'ready') void this.#start();
      else if (phase === 'draining') void this.#stop();
    });
  }

  /**
   * After the drain: results are delivered, or its time is over. Takes at most `FLUSH_MS`;
   * then the connections are closed, whatever still waits for Redis.
   */
  async onApplicationShutdown(): Promise<void> {
    this.#phases?.unsubscribe();
    await Promise.race([this.#flushed(), sleep(FLUSH_MS)]);
    this.announcer.close();
    await this.callbacks.close();
    await this.locks.close();
  }

  async #start(): Promise<void> {
    this.queue.start();
    this.callbacks.start();
    // No job may be taken before its lock can be renewed.
    await this.locks.start();
    this.loop.start();
  }

  /** Takes no more jobs. Resolves when none is held. */
  #stop(): Promise<void> {
    this.queue.stop();
    return this.loop.stop();
  }

  async #flushed(): Promise<void> {
    await this.#stop();
    await this.announcer.leave();
  }
}

import { setTimeout as delay } from 'node:timers/promises';
import { Injectable, Logger } from '@nestjs/common';
import { DomainError } from '../../core/errors/domain-error.js';
import { WorkerSpec } from '../../platform/config/worker-spec.js';
import { InFlightCalls } from './in-flight-calls.js';
import { WorkerState } from './worker-state.js';

/** How long aborted work may take to reach its next checkpoint. */
const ABORT_MS = 2000;

/** Shutdown of a worker: refuse, finish, cancel the rest. */
@Injectable()
export class WorkerDrain {
  readonly #log = new Logger(WorkerDrain.name);
  #drained: Promise<void> | undefined;

  constructor(
    private readonly state: WorkerState,
    private readonly calls: InFlightCalls,
    private readonly spec: WorkerSpec,
  ) {}

  /**
   * Resolves when no call is left, or when those left do not stop. Later calls get the
   * first one's promise.
   */
  drain(graceMs: number = this.spec.shutdownGraceMs): Promise<void> {
    return (this.#drained ??= this.#drain(graceMs));
  }

  async #drain(graceMs: number): Promise<void> {
    this.state.draining();
    this.#log.log(`Draining: ${this.calls.size} in flight, ${graceMs} ms grace`);
    if (!(await this.#idleWithin(graceMs))) {
      this.#log.warn(`Cancelling ${this.calls.size} calls after the grace of ${graceMs} ms`);
      this.calls.abortAll(new DomainError('shutting_down', 'The worker is shutting down.'));
      if (!(await this.#idleWithin(ABORT_MS)))
        this.#log.error(`${this.calls.size} calls did not stop`);
    }
    this.state.closed();
  }

  async #idleWithin(limitMs: number): Promise<boolean> {
    const timer = new AbortController();
    const expired = delay(limitMs, false, { signal: timer.signal }).catch(() => false);
    try {
      return await Promise.race([this.calls.idle().then(() => true), expired]);
    } finally {
      timer.abort();
    }
  }
}

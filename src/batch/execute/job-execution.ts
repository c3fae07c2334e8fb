import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { urgency } from '../../core/jobs/fair-share.js';
import type { InputLines } from '../job/input-lines.js';
import type { Maker } from '../job/result-files.js';
import type { ResultLog } from '../job/result-log.js';
import type { JobStop } from '../lease/job-stop.js';
import type { LineDispatcher, LineLane, LineTicket, SendingJob } from './line-dispatcher.js';
import type { LineSender } from './line-sender.js';

export interface ExecutionParts {
  readonly maker: Maker;
  readonly lanes: readonly LineLane[];
  readonly log: ResultLog;
  readonly input: InputLines;
  readonly stop: JobStop;
  /** False from the instant the lease runs out, also for a process that slept through it. */
  readonly isHeld: () => boolean;
  readonly sender: LineSender;
  readonly dispatcher: LineDispatcher;
  /** How long lines in flight may finish once nothing more is sent (D-15). */
  readonly graceMs: () => number;
  /** Something that is no fault of a line: disk, store. It stops the job's dispatch. */
  readonly onTrouble: (error: Error) => void;
}

/** All lines of one job through the dispatcher, until they are done or the job stops. */
export class JobExecution implements SendingJob {
  #inFlight = 0;
  /** Of all lines in flight at once. */
  readonly #giveUp = new AbortController();
  /** One attempt at one line. Lines are sent when any other line ends; their traces belong to this job. */
  readonly send = AsyncLocalStorage.bind((lane: LineLane, ticket: LineTicket) => this.#attempt(lane, ticket));
  #changed: () => void = () => undefined;

  constructor(private readonly parts: ExecutionParts) {}

  get id(): string {
    return this.parts.maker.job.id;
  }

  get lanes(): readonly LineLane[] {
    return this.parts.lanes;
  }

  get mayGo(): boolean {
    const { stop, log, isHeld } = this.parts;
    return stop.reason === undefined && !log.isBehind && isHeld();
  }

  get weight(): number {
    const { maker, log } = this.parts;
    const { total } = log.progress.counts;
    const { createdAtMs, expiresAtMs } = maker.job;
    return urgency({ createdAtMs, expiresAtMs, nowMs: Date.now(), remaining: log.progress.remaining, total });
  }

  /** Resolves when nothing of the job is in flight any more: all lines have a result, or the job stopped. */
  async run(): Promise<void> {
    const { dispatcher, stop } = this.parts;
    const unlisten = stop.listen(() => this.#changed());
    dispatcher.add(this);
    await this.#until(() => stop.reason !== undefined || this.#isThrough).finally(() => dispatcher.remove(this));
    await this.#settleInFlight().finally(unlisten);
  }

  async #attempt(lane: LineLane, ticket: LineTicket): Promise<void> {
    const { log, stop, sender, input, maker } = this.parts;
    const { signal } = this.#giveUp;
    this.#inFlight += 1;
    try {
      const outcome = await sender.attempt({ maker, lane, ticket, input, signal });
      if (outcome.kind === 'result') log.append({ index: ticket.index, ...outcome.result });
      else if (stop.reason === undefined)
        lane.rest({ ...ticket, tried: outcome.tried }, performance.now() + outcome.afterMs);
    } catch (error) {
      // An aborted line gets its code with those that were never sent. Anything else is no fault of the line.
      if (!signal.aborted) this.parts.onTrouble(error as Error);
    } finally {
      this.#inFlight -= 1;
      if (this.#inFlight === 0) this.#changed();
    }
  }

  get #isThrough(): boolean {
    return this.#inFlight === 0 && this.lanes.every(lane => lane.isEmpty);
  }

  async #until(condition: () => boolean): Promise<void> {
    while (!condition()) await new Promise<void>(resolve => (this.#changed = resolve));
  }

  async #settleInFlight(): Promise<void> {
    // Who only makes room for another tenant waits for its lines: nobody is in a hurry.
    const { stop } = this.parts;
    await this.#until(() => this.#inFlight === 0 || stop.reason !== 'preempted');
    const patience = new AbortController();
    const idle = this.#until(() => this.#inFlight === 0 || this.parts.stop.reason === 'lost');
    const grace = sleep(this.parts.graceMs(), undefined, { signal: patience.signal }).catch(() => undefined);
    await Promise.race([idle, grace]);
    patience.abort();
    this.#giveUp.abort();
    await this.#until(() => this.#inFlight === 0);
  }
}

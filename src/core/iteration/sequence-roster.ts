import { PagedMemory, type PagedMemoryOptions } from './paged-memory.js';
import { FairQueue } from './fair-queue.js';
import {
  type GenerationEnd,
  type GenerationListener,
  type GenerationRequest,
  type Refusal,
} from './generation-request.js';
import { GenerationSequence, mostTokens } from './generation-sequence.js';
import { RunningSet, type RunningSetOptions } from './running-set.js';
import { TenantCounters } from './tenant-counters.js';

export interface RosterOptions<T> extends RunningSetOptions, GenerationListener<T> {
  readonly memory: PagedMemoryOptions;
  /** Tokens of one sequence, prompt and answer. */
  readonly maxContext: number;
}

/** All who are here, waiting or running, from `add` to `end`, which is told exactly once. */
export class SequenceRoster<T extends GenerationRequest> {
  readonly ledger: PagedMemory<GenerationSequence<T>>;
  readonly counters = new TenantCounters();
  readonly line: FairQueue<GenerationSequence<T>>;
  readonly running: RunningSet<T>;
  readonly #options: RosterOptions<T>;
  readonly #sequences = new Map<T, GenerationSequence<T>>();
  #left: T[] = [];

  constructor(options: RosterOptions<T>) {
    this.#options = options;
    this.ledger = new PagedMemory(options.memory);
    this.line = new FairQueue(this.counters, options.classWidthMs);
    this.running = new RunningSet(options, this);
  }

  get size(): number {
    return this.#sequences.size;
  }

  of(request: T): GenerationSequence<T> | undefined {
    return this.#sequences.get(request);
  }

  /** False once it has ended, also when its handle was submitted again. */
  has(sequence: GenerationSequence<T>): boolean {
    return this.#sequences.get(sequence.request) === sequence;
  }

  /** Why it can never run here; undefined: it can. */
  refusal(request: T): Refusal | undefined {
    const tokens = request.prompt.length + request.maxTokens;
    const limit = Math.min(this.#options.maxContext, this.ledger.capacity + 1);
    const refuse = (reason: Refusal['reason']): Refusal => ({ reason, tokens, limit });
    if (this.#sequences.has(request)) return refuse('already_submitted');
    if (request.prompt.length === 0) return refuse('empty_prompt');
    if (!(request.maxTokens >= 1)) return refuse('no_tokens_asked');
    if (tokens > this.#options.maxContext) return refuse('beyond_context');
    return this.ledger.couldHold(mostTokens(request)) ? undefined : refuse('beyond_memory');
  }

  add(request: T): void {
    const sequence = new GenerationSequence(request, this.#options.classWidthMs);
    this.#sequences.set(request, sequence);
    this.counters.join(request.tenant);
    this.line.add(sequence);
  }

  /** Removed before it is told. */
  end(sequence: GenerationSequence<T>, end: GenerationEnd): void {
    const { request, tenant } = sequence;
    if (!this.#sequences.delete(request)) return;
    if (this.running.drop(sequence)) this.#left.push(request);
    else this.line.remove(sequence);
    this.counters.leave(tenant);
    this.#options.ended(request, end);
  }

  /** Whose deadline has passed. */
  expired(nowMs: number): GenerationSequence<T>[] {
    return [...this.#sequences.values()].filter(({ request }) => (request.deadlineMs ?? Infinity) <= nowMs);
  }

  /** Monotonic milliseconds of the first deadline; Infinity: nobody has one. */
  get firstDeadlineMs(): number {
    let first = Infinity;
    for (const { deadlineMs } of this.#sequences.keys()) first = Math.min(first, deadlineMs ?? Infinity);
    return first;
  }

  /** Who was in a step that killed the backend, and is not past that point; oldest first. */
  get suspects(): GenerationSequence<T>[] {
    const suspects = [...this.#sequences.values()].filter(({ suspect, paused }) => suspect && !paused);
    return suspects.sort((a, b) => a.key - b.key);
  }

  /** Ended while running, since the last call. */
  get hasLeft(): boolean {
    return this.#left.length > 0;
  }

  /** Ended while running, or preempted, since the last call. */
  takeLeft(): T[] {
    const left = [...this.#left, ...this.running.takePreempted().map(({ request }) => request)];
    this.#left = [];
    return left;
  }

  /** The memory is gone: all wait again, in their places, and the backend has nothing to free. */
  lose(): void {
    this.#left = [];
    this.running.lose();
  }

  /** @throws Error when blocks are lost or counted twice, or somebody is nowhere or in two places. */
  audit(): void {
    this.ledger.audit();
    const places = this.line.size + this.running.size;
    if (places !== this.size) throw new Error(`${places} places for ${this.size} requests.`);
    if (this.running.size === 0 && this.ledger.available !== this.#options.memory.blocks)
      throw new Error(`Nobody runs, and of ${this.#options.memory.blocks} blocks ${this.ledger.available} are free.`);
  }
}

import {
  type GenerationEnd,
  type GenerationRequest,
  type SubmitRefusal,
} from '@switchyard/engine-api/generation-request.js';
import { FairOrder } from '../order/fair-order.js';
import { WeightedLane } from '../order/weighted-lane.js';
import { GenerationSequence } from './generation-sequence.js';
import { type GenerationOptions, RunningSet } from './running-set.js';

/** Of sequences that aged here: the gateway's default (`queue.aging_share`). */
const OWN_SHARE = 0.25;

/**
 * All sequences, waiting or running, from `add` to `end`, which is emitted exactly once.
 */
export class SequenceRoster<T extends GenerationRequest> {
  /**
   * Class 0 first. Of the others, those that aged into class 0, or arrived aged, have
   * their share of the turns beside it (D-03) and no more: a large old backlog does not
   * delay class 0. Tenants share by tokens (D-25).
   */
  readonly queue: FairOrder<GenerationSequence<T>>;
  readonly running: RunningSet<T>;
  readonly #sequences = new Map<T, GenerationSequence<T>>();
  /** Of tenants whose weight is not 1. */
  readonly #weights = new Map<string, number>();
  #left: T[] = [];

  constructor(private readonly options: GenerationOptions<T>) {
    const weightOf = (tenant: string): number => this.#weights.get(tenant) ?? 1;
    this.queue = new FairOrder({
      realtime: new WeightedLane(weightOf),
      batch: new WeightedLane(weightOf),
      agingShare: OWN_SHARE,
    });
    this.running = new RunningSet(options, this.queue);
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
  refusal(request: T): SubmitRefusal | undefined {
    const tokens = request.prompt.length + request.maxTokens;
    const { maxContext, memory } = this.options;
    // The last token drawn is emitted, not computed.
    const mostInMemory = memory.capacity + 1;
    const limit = Math.min(maxContext, mostInMemory);
    const refuse = (reason: SubmitRefusal['reason']): SubmitRefusal => ({
      reason,
      tokens,
      limit,
    });
    if (this.#sequences.has(request)) return refuse('already_submitted');
    if (request.prompt.length === 0) return refuse('empty_prompt');
    if (!(request.maxTokens >= 1)) return refuse('no_tokens_asked');
    if (tokens > maxContext) return refuse('beyond_context');
    return tokens > mostInMemory ? refuse('beyond_memory') : undefined;
  }

  add(request: T): void {
    const { tenant, tenantWeight = 1, agingShare } = request;
    const sequence = new GenerationSequence(request, this.options.classWidthMs);
    this.#sequences.set(request, sequence);
    if (tenantWeight === 1) this.#weights.delete(tenant);
    else this.#weights.set(tenant, tenantWeight);
    if (agingShare !== undefined) this.queue.agingShare = agingShare;
    this.queue.append(sequence.entry);
  }

  /** A new token of its answer: charged to its tenant, then emitted. */
  drew(sequence: GenerationSequence<T>, token: number): void {
    const { entry, request, tokens } = sequence;
    tokens.push(token);
    this.queue.laneOf(entry).charge(request.tenant, this.options.outputWeight);
    this.options.emitted(request, token, sequence.output - 1);
  }

  /** Removes the sequence, then emits its end. */
  end(sequence: GenerationSequence<T>, end: GenerationEnd): void {
    const { request, entry } = sequence;
    if (!this.#sequences.delete(request)) return;
    if (this.running.drop(sequence)) this.#left.push(request);
    else this.queue.laneOf(entry).remove(entry);
    this.options.ended(request, end);
  }

  /** Sequences whose deadline has passed. */
  expired(nowMs: number): GenerationSequence<T>[] {
    return [...this.#sequences.values()].filter(
      ({ request }) => (request.deadlineMs ?? Infinity) <= nowMs,
    );
  }

  /** Monotonic milliseconds of the first deadline; Infinity = none. */
  get firstDeadlineMs(): number {
    let first = Infinity;
    for (const { deadlineMs } of this.#sequences.keys())
      first = Math.min(first, deadlineMs ?? Infinity);
    return first;
  }

  /**
   * Members of a step in which the backend died that are not past that point
   * yet, oldest first.
   */
  get suspects(): GenerationSequence<T>[] {
    const suspects = [...this.#sequences.values()].filter(
      ({ suspect, paused }) => suspect && !paused,
    );
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

  /** The memory is gone: all wait again, in their places. */
  lose(): void {
    this.#left = [];
    this.running.lose();
  }

  /**
   * @throws Error when blocks are lost or counted twice, or a sequence is nowhere or
   *   in two places.
   */
  audit(): void {
    const { memory } = this.options;
    memory.audit();
    const places = this.queue.size + this.running.size;
    if (places !== this.size) throw new Error(`${places} places for ${this.size} requests.`);
    if (this.running.size === 0 && memory.available !== memory.blocks)
      throw new Error(
        `No sequence runs, and of ${memory.blocks} blocks ${memory.available} are free.`,
      );
  }
}

import {
  type GenerationEnd,
  type GenerationRequest,
  type KvMemory,
} from '@switchyard/engine-api/generation-request.js';
import { type FairOrder } from '../order/fair-order.js';
import { type GenerationSequence } from './generation-sequence.js';
import { type TokenBudget } from './token-budget.js';

export interface GenerationOptions<T extends GenerationRequest> {
  /**
   * A new token of the answer; `index` counts from 0 without gaps, also across preemption.
   * Emitted, as `ended`, from inside `complete`, `cancel`, `plan` or `lost`, when the
   * state is changed already.
   */
  readonly emitted: (request: T, token: number, index: number) => void;
  readonly ended: (request: T, end: GenerationEnd) => void;
  /** `minTokens` at least `maxRows`. */
  readonly budget: ConstructorParameters<typeof TokenBudget>[0];
  /** Ceiling of `nextWakeMs` without requests. */
  readonly idleWaitMs: number;
  /** Ceiling of `nextWakeMs` while no request can run. */
  readonly loadWaitMs: number;
  /** Tokens of one sequence, prompt and answer. */
  readonly maxContext: number;
  /** Charge of a generated token to its tenant; a token of a prompt is charged 1. */
  readonly outputWeight: number;
  readonly memory: KvMemory<GenerationSequence<T>>;
  /** Milliseconds of waiting that outweigh one priority class (D-21). */
  readonly classWidthMs: number;
  /**
   * Times that a request may lose its memory to others; from then on it is admitted with
   * all it can ever need.
   */
  readonly maxPreemptions: number;
  /**
   * Milliseconds after which a paused sequence gives its row and memory to a waiting one.
   */
  readonly pauseGraceMs: number;
  /** Sequences in the running set. */
  readonly maxRows: number;
  /** Tokens of the answer that must fit besides the prompt when a request is admitted. */
  readonly headroomTokens: number;
  /**
   * Requests that may overtake one that does not fit yet; from then on all
   * behind it wait.
   */
  readonly maxOvertakes: number;
  /**
   * Milliseconds after which one that does not fit is tried again although no
   * memory was freed.
   */
  readonly backoffMs: number;
}

/**
 * The running sequences, and admission to rows and memory. A request that does not fit is
 * tried again when memory was freed or more of it can be found (`#epoch`), not before: no
 * busy loop, and no delay either.
 */
export class RunningSet<T extends GenerationRequest> {
  readonly #rows = new Set<GenerationSequence<T>>();
  #preempted: GenerationSequence<T>[] = [];
  #epoch = 0;
  /** Tokens found computed whose memory turned out not to hold them, since the start. */
  strandedTokens = 0;

  constructor(
    private readonly options: GenerationOptions<T>,
    private readonly queue: FairOrder<GenerationSequence<T>>,
  ) {}

  get size(): number {
    return this.#rows.size;
  }

  /** Oldest first. */
  get rows(): GenerationSequence<T>[] {
    return [...this.#rows].sort((a, b) => a.key - b.key);
  }

  has(row: GenerationSequence<T>): boolean {
    return this.#rows.has(row);
  }

  /** Sequences preempted since the last call. */
  takePreempted(): GenerationSequence<T>[] {
    const preempted = this.#preempted;
    this.#preempted = [];
    return preempted;
  }

  /**
   * Makes room for the next token of each decoding sequence, oldest first. True when one
   * was preempted for it.
   */
  grow(): boolean {
    const before = this.#preempted.length;
    for (const row of this.rows)
      if (row.decoding && row.isDue)
        while (this.#rows.has(row) && !this.options.memory.grow(row, row.planned + 1))
          this.#preempt(this.#victimForGrowth());
    return this.#preempted.length > before;
  }

  /** As `grow` and `displace` without preemption; false when one would be needed. */
  growFreely(nowMs: number): boolean {
    if (this.#withoutRoom(nowMs).some(next => this.#victimsFor(next, nowMs).length > 0))
      return false;
    return this.rows.every(
      row => !row.decoding || !row.isDue || this.options.memory.grow(row, row.planned + 1),
    );
  }

  /**
   * Before a step is composed: the first waiting request that finds no room takes it from
   * lower classes and from long-paused rows. After that no row of the step is preempted.
   */
  displace(nowMs: number): void {
    while (
      this.#withoutRoom(nowMs).some(next => this.enter(next, nowMs) || this.force(next, nowMs))
    );
  }

  /** Admits what rows, memory and `tokens` of this step have room for, in queue order. */
  admit(nowMs: number, tokens: number): GenerationSequence<T>[] {
    const admitted: GenerationSequence<T>[] = [];
    const blocked: GenerationSequence<T>[] = [];
    const mayPass = (): boolean =>
      blocked.every(({ overtaken }) => overtaken < this.options.maxOvertakes);
    for (let left = tokens; left > 0 && this.#hasRow && mayPass();) {
      const next = this.queue.first(
        nowMs,
        row => this.#isCandidate(row) && !blocked.includes(row),
      )?.item;
      if (next === undefined) break;
      if (!this.enter(next, nowMs)) {
        blocked.push(next);
        continue;
      }
      for (const row of blocked) row.passed();
      admitted.push(next);
      left -= next.pending;
    }
    return admitted;
  }

  /** Admits a waiting sequence if a row and memory are free. */
  enter(next: GenerationSequence<T>, nowMs: number): boolean {
    if (!this.#hasRow || this.#isBackingOff(next, nowMs)) return false;
    const { salt } = next.request;
    const { tokens } = next;
    const computed = this.options.memory.allocate(next, {
      salt,
      tokens,
      capacity: this.#capacity(next),
    });
    if (computed === undefined) next.refused(this.#epoch, nowMs);
    else this.#admit(next, computed, nowMs);
    return computed !== undefined;
  }

  /**
   * As `enter`, preempting lower classes and long-paused rows; preempts none if that
   * would not be enough.
   */
  force(next: GenerationSequence<T>, nowMs: number): boolean {
    const { memory } = this.options;
    const needed = memory.blocksFor(this.#capacity(next));
    const chosen: GenerationSequence<T>[] = [];
    let free = memory.available;
    const isEnough = (): boolean =>
      free >= needed && this.#rows.size - chosen.length < this.options.maxRows;
    for (const row of this.#victimsFor(next, nowMs)) {
      if (isEnough()) break;
      chosen.push(row);
      free += memory.heldAlone(row);
    }
    if (chosen.length === 0 || !isEnough()) return false;
    chosen.forEach(row => this.#preempt(row));
    return this.enter(next, nowMs);
  }

  /** Notes in the memory that the first `row.computed` tokens of a sequence are there. */
  computed(row: GenerationSequence<T>): void {
    if (this.options.memory.computed(row, row.computed)) this.#epoch += 1;
  }

  /**
   * No step is in flight: rows whose memory holds fewer tokens than they count compute
   * the rest again.
   */
  reconcile(): void {
    for (const row of this.#rows) {
      const intact = this.options.memory.intact(row);
      if (intact >= row.computed) continue;
      this.strandedTokens += row.computed - intact;
      row.begin(intact);
    }
  }

  /** Frees row and memory of a sequence. @returns false when it does not run */
  drop(row: GenerationSequence<T>): boolean {
    if (!this.#rows.delete(row)) return false;
    this.options.memory.release(row);
    this.#epoch += 1;
    return true;
  }

  /** The memory is lost: all sequences wait again, in their former places. */
  lose(): void {
    for (const row of this.#rows) this.#requeue(row, false);
    this.#preempted = [];
    this.options.memory.forgetContents();
  }

  /**
   * Waiting sequences that may not fit: the first in the queue, and the first of class 0.
   * In an aged one's turn that one waits for a row; rows that class 0 takes from lower
   * classes meanwhile are none that it would get.
   */
  #withoutRoom(nowMs: number): GenerationSequence<T>[] {
    const { queue } = this;
    const next = queue.first(nowMs, this.#isCandidate)?.item;
    if (next === undefined || this.#surelyFits(next)) return [];
    const urgent = queue.realtime.next(false, this.#isCandidate)?.item;
    const both = urgent === undefined || urgent === next ? [next] : [next, urgent];
    return both.filter(one => !this.#surelyFits(one) && !this.#isBackingOff(one, nowMs));
  }

  get #hasRow(): boolean {
    return this.#rows.size < this.options.maxRows;
  }

  /** A sequence preempted for this step does not return in it. */
  readonly #isCandidate = (waiting: GenerationSequence<T>): boolean =>
    !waiting.paused && !this.#preempted.includes(waiting);

  #isBackingOff({ blocked }: GenerationSequence<T>, nowMs: number): boolean {
    return blocked?.epoch === this.#epoch && nowMs - blocked.atMs < this.options.backoffMs;
  }

  #surelyFits(next: GenerationSequence<T>): boolean {
    const { memory } = this.options;
    return this.#hasRow && memory.blocksFor(this.#capacity(next)) <= memory.available;
  }

  #admit(next: GenerationSequence<T>, computed: number, nowMs: number): void {
    const { queue } = this;
    const contested = queue.take(next.entry, nowMs, this.#isCandidate);
    this.#rows.add(next);
    const due = next.admitted(computed, contested);
    if (due > 0) queue.laneOf(next.entry).charge(next.request.tenant, due);
  }

  #capacity({ preemptions, most, tokens }: GenerationSequence<T>): number {
    const { maxPreemptions, headroomTokens } = this.options;
    return preemptions >= maxPreemptions ? most : Math.min(most, tokens.length + headroomTokens);
  }

  /**
   * The class that a sequence counts as: its own, less one for each `classWidthMs` of
   * waiting. It falls out of the static key, and so never changes the order of two
   * requests of one tenant.
   */
  #effectiveClass({ key }: GenerationSequence<T>, nowMs: number): number {
    return Math.max(0, Math.ceil((key - nowMs) / this.options.classWidthMs));
  }

  /**
   * The row that leaves for one that decodes and needs memory: a paused one, else the
   * youngest that may.
   */
  #victimForGrowth(): GenerationSequence<T> {
    const { rows } = this;
    const victim =
      rows.findLast(({ paused }) => paused) ??
      rows.findLast(({ preemptions }) => preemptions < this.options.maxPreemptions);
    // A row that may not be preempted holds all it needs and does not grow; so the one that
    // grows may be.
    if (victim === undefined)
      throw new Error('A sequence grows although it holds all it can need.');
    return victim;
  }

  /**
   * Rows that may leave for `next`: first long-paused ones, then lower classes, the
   * youngest first.
   */
  #victimsFor(next: GenerationSequence<T>, nowMs: number): GenerationSequence<T>[] {
    const { maxPreemptions, pauseGraceMs } = this.options;
    const level = this.#effectiveClass(next, nowMs);
    const youngest = this.rows.toReversed();
    return [
      ...youngest.filter(({ pausedSinceMs = Infinity }) => nowMs - pausedSinceMs >= pauseGraceMs),
      ...youngest.filter(
        row =>
          !row.paused &&
          !row.hadTurn &&
          row.preemptions < maxPreemptions &&
          this.#effectiveClass(row, nowMs) > level,
      ),
    ];
  }

  #preempt(row: GenerationSequence<T>): void {
    this.#preempted.push(row);
    this.#requeue(row, true);
  }

  #requeue(row: GenerationSequence<T>, preempted: boolean): void {
    this.drop(row);
    row.requeued(preempted);
    this.queue.append(row.entry);
  }
}

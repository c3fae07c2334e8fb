import { type PagedMemory } from './paged-memory.js';
import { type FairQueue } from './fair-queue.js';
import { type GenerationRequest } from './generation-request.js';
import { type GenerationSequence } from './generation-sequence.js';
import { type TenantCounters } from './tenant-counters.js';
import { victimForGrowth, victimsFor, type PreemptionOptions } from './preemption-policy.js';

export interface RunningSetOptions extends PreemptionOptions {
  /** Sequences in the running set. */
  readonly maxRows: number;
  /** The certain part of an answer: tokens that must fit besides the prompt when a request is let in. */
  readonly headroomTokens: number;
  /** Requests that may go before one that does not fit yet; from then on all behind it wait. */
  readonly maxOvertakes: number;
  /** Milliseconds after which one that does not fit is looked at again although no memory was freed. */
  readonly backoffMs: number;
}

interface Parts<T extends GenerationRequest> {
  readonly ledger: PagedMemory<GenerationSequence<T>>;
  readonly line: FairQueue<GenerationSequence<T>>;
  readonly counters: TenantCounters;
}

/**
 * Who runs, and who is let in: rows and memory. A request that does not fit is looked at again when memory was freed or
 * became findable (`#epoch`), not before: no busy loop, and no delay either.
 */
export class RunningSet<T extends GenerationRequest> {
  readonly #options: RunningSetOptions;
  readonly #parts: Parts<T>;
  readonly #rows = new Set<GenerationSequence<T>>();
  #preempted: GenerationSequence<T>[] = [];
  #epoch = 0;

  constructor(options: RunningSetOptions, parts: Parts<T>) {
    this.#options = options;
    this.#parts = parts;
  }

  get size(): number {
    return this.#rows.size;
  }

  /** Oldest first, as the line has it. */
  get rows(): GenerationSequence<T>[] {
    return [...this.#rows].sort((a, b) => a.key - b.key);
  }

  has(row: GenerationSequence<T>): boolean {
    return this.#rows.has(row);
  }

  /** Tokens that a running one has computed; undefined: it does not run. */
  at(row: GenerationSequence<T>): number | undefined {
    return this.#rows.has(row) ? row.computed : undefined;
  }

  /** Whose memory was taken since the last call. */
  takePreempted(): GenerationSequence<T>[] {
    const preempted = this.#preempted;
    this.#preempted = [];
    return preempted;
  }

  /** Room for the next token of each that decodes, the oldest first. True when somebody had to leave for it. */
  grow(): boolean {
    const before = this.#preempted.length;
    for (const row of this.rows)
      if (row.decoding && row.isDue)
        while (this.#rows.has(row) && !this.#parts.ledger.grow(row, row.planned + 1))
          this.#yield(victimForGrowth(this.rows, this.#options));
    return this.#preempted.length > before;
  }

  /** As `grow` and `displace` as long as nobody has to leave; false when somebody would. */
  growFreely(nowMs: number): boolean {
    const wouldLeave = (next: GenerationSequence<T>) => victimsFor(next, this.rows, nowMs, this.#options).length > 0;
    if (this.#whoLackRoom(nowMs).some(wouldLeave)) return false;
    return this.rows.every(row => !row.decoding || !row.isDue || this.#parts.ledger.grow(row, row.planned + 1));
  }

  /**
   * Before a step is composed: who comes first and finds no room takes it from lower classes and from who is paused for long.
   * After that nobody of the step loses anything.
   */
  displace(nowMs: number): void {
    while (this.#whoLackRoom(nowMs).some(next => this.enter(next, nowMs) || this.force(next, nowMs)));
  }

  /** Lets in whom rows, memory and `tokens` of this step have room for, in order of the line. */
  admit(nowMs: number, tokens: number): GenerationSequence<T>[] {
    const admitted: GenerationSequence<T>[] = [];
    const blocked: GenerationSequence<T>[] = [];
    const mayPass = (): boolean => blocked.every(({ overtaken }) => overtaken < this.#options.maxOvertakes);
    for (let left = tokens; left > 0 && this.#hasRow && mayPass();) {
      const next = this.#parts.line.first(nowMs, row => this.#isCandidate(row) && !blocked.includes(row));
      if (next === undefined) break;
      if (!this.enter(next, nowMs)) {
        blocked.push(next);
        continue;
      }
      for (const passed of blocked) passed.overtaken += 1;
      admitted.push(next);
      left -= next.pending;
    }
    return admitted;
  }

  /** One that waits gets a row and memory, if there is both. */
  enter(next: GenerationSequence<T>, nowMs: number): boolean {
    if (!this.#hasRow || this.#isBackingOff(next, nowMs)) return false;
    const { salt } = next.request;
    const got = this.#parts.ledger.allocate(next, { salt, prompt: next.tokens, capacity: this.#capacity(next) });
    next.blocked = got ? undefined : { epoch: this.#epoch, atMs: nowMs };
    if (got) this.#seat(next, got.reusedTokens, nowMs);
    return got !== undefined;
  }

  /** As `enter`, at the cost of lower classes and of who is paused for long; of nobody if that would not be enough. */
  force(next: GenerationSequence<T>, nowMs: number): boolean {
    const { ledger } = this.#parts;
    const needed = ledger.blocksFor(this.#capacity(next));
    const chosen: GenerationSequence<T>[] = [];
    let free = ledger.available;
    const isEnough = (): boolean => free >= needed && this.#rows.size - chosen.length < this.#options.maxRows;
    for (const row of victimsFor(next, this.rows, nowMs, this.#options)) {
      if (isEnough()) break;
      chosen.push(row);
      free += ledger.heldAlone(row);
    }
    if (chosen.length === 0 || !isEnough()) return false;
    chosen.forEach(row => this.#yield(row));
    return this.enter(next, nowMs);
  }

  /** The tokens up to `row.computed` are there, and can be found by others. */
  learn(row: GenerationSequence<T>, before: number): void {
    const { ledger } = this.#parts;
    if (ledger.blocksFor(row.computed + 1) === ledger.blocksFor(before + 1)) return;
    ledger.computed(row, row.tokens.slice(0, row.computed));
    this.#epoch += 1;
  }

  /** It ended: row and memory are free. False when it does not run. */
  drop(row: GenerationSequence<T>): boolean {
    if (!this.#rows.delete(row)) return false;
    this.#parts.ledger.release(row);
    this.#epoch += 1;
    return true;
  }

  /** The memory is gone: all wait again, in their places. */
  lose(): void {
    for (const row of this.#rows) this.#backToLine(row);
    this.#preempted = [];
    this.#parts.ledger.forgetContents();
  }

  /**
   * Those that may not fit: the first in the line, and the first of class 0. When it is an aged one's turn, that one waits for a
   * row; what class 0 takes from lower classes meanwhile is none that it would get.
   */
  #whoLackRoom(nowMs: number): GenerationSequence<T>[] {
    const { line } = this.#parts;
    const next = line.first(nowMs, waiting => this.#isCandidate(waiting));
    if (next === undefined || this.#surelyFits(next)) return [];
    const urgent = line.first(nowMs, waiting => waiting.priorityClass === 0 && this.#isCandidate(waiting));
    const both = urgent === undefined || urgent === next ? [next] : [next, urgent];
    return both.filter(one => !this.#surelyFits(one) && !this.#isBackingOff(one, nowMs));
  }

  get #hasRow(): boolean {
    return this.#rows.size < this.#options.maxRows;
  }

  /** Who lost its memory for this step does not come back in it. */
  #isCandidate(waiting: GenerationSequence<T>): boolean {
    return !waiting.paused && !this.#preempted.includes(waiting);
  }

  #isBackingOff({ blocked }: GenerationSequence<T>, nowMs: number): boolean {
    return blocked?.epoch === this.#epoch && nowMs - blocked.atMs < this.#options.backoffMs;
  }

  #surelyFits(next: GenerationSequence<T>): boolean {
    const { ledger } = this.#parts;
    return this.#hasRow && ledger.blocksFor(this.#capacity(next)) <= ledger.available;
  }

  #seat(next: GenerationSequence<T>, reusedTokens: number, nowMs: number): void {
    const contested = this.#parts.line.taken(next, nowMs, waiting => this.#isCandidate(waiting));
    next.hadTurn = contested && next.priorityClass > 0;
    this.#parts.line.remove(next);
    this.#rows.add(next);
    next.begin(reusedTokens);
    if (!next.charged) this.#parts.counters.charge(next.tenant, next.pending);
    next.charged = true;
  }

  #capacity({ preemptions, most, tokens }: GenerationSequence<T>): number {
    const { maxPreemptions, headroomTokens } = this.#options;
    return preemptions >= maxPreemptions ? most : Math.min(most, tokens.length + headroomTokens);
  }

  #yield(row: GenerationSequence<T>): void {
    if (!row.paused) row.preemptions += 1;
    this.#preempted.push(row);
    this.#backToLine(row);
  }

  #backToLine(row: GenerationSequence<T>): void {
    this.drop(row);
    row.begin(0);
    row.blocked = undefined;
    this.#parts.line.add(row);
  }
}

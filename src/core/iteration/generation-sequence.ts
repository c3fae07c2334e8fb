import { type StepItem } from '@switchyard/engine-api/generation-plan.js';
import {
  type GenerationEnd,
  type GenerationRequest,
} from '@switchyard/engine-api/generation-request.js';
import { Entry } from '../order/account.js';

/** The scheduler's state of a request, waiting or running. */
export class GenerationSequence<T extends GenerationRequest> {
  readonly request: T;
  readonly priorityClass: number;
  /**
   * It was admitted by its aging turn while class 0 waited: class 0 does not preempt it.
   */
  hadTurn = false;
  /**
   * Static aging key, smaller first (D-21): one class lower counts like an arrival
   * `classWidthMs` later. Aging that grows linearly with time never changes the order
   * of two requests, so the key needs no clock and no re-sort, and preemption does
   * not change it.
   */
  readonly key: number;
  /** Its place while it waits, also again: its age is never lost. */
  readonly entry: Entry<GenerationSequence<T>>;
  /**
   * Prompt and answer so far, and the only copy of them: the memory reads it too. Tokens
   * are appended, never changed.
   */
  readonly tokens: number[];
  /** Times that it lost its memory to others. */
  preemptions = 0;
  /** Requests behind it that were admitted first because they fitted. */
  overtaken = 0;
  /** When, and in which epoch of the memory, it did not fit. */
  blocked: { readonly epoch: number; readonly atMs: number } | undefined;
  /** Whether its tenant was charged for the prompt. */
  #charged = false;
  /** Monotonic milliseconds since which its consumer is full. */
  pausedSinceMs: number | undefined;
  /** How it ends with the step that runs now. */
  ending: GenerationEnd | undefined;
  /** Steps shared with others in which the backend died. */
  losses = 0;
  /** It runs alone until this many tokens are computed. */
  suspectUntil = 0;

  /** Tokens whose keys and values are in memory. */
  computed = 0;
  /** Tokens that will be in memory when the steps in flight are done. */
  planned = 0;
  #awaited = 0;

  constructor(request: T, classWidthMs: number) {
    const { tenant, priorityClass, arrivalMs, agingShare } = request;
    const cameAged = agingShare !== undefined;
    this.request = request;
    this.priorityClass = priorityClass;
    this.key = priorityClass * classWidthMs + arrivalMs;
    this.tokens = [...request.prompt];
    this.entry = new Entry<GenerationSequence<T>>(this, {
      isRealtime: priorityClass === 0,
      tenant,
      sinceMs: arrivalMs,
      orderMs: cameAged ? arrivalMs : this.key,
      agesAtMs: cameAged ? -Infinity : this.key,
      // Charged when it is known how much of the prompt is in memory, and token by token.
      costMs: 0,
      bytes: 0,
    });
  }

  get output(): number {
    return this.tokens.length - this.request.prompt.length;
  }

  /**
   * Tokens to compute before the next one can be drawn; steps in flight count as done.
   */
  get pending(): number {
    return this.tokens.length + this.#awaited - this.planned;
  }

  /** Only its newest token is pending, which a step in flight may be drawing. */
  get decoding(): boolean {
    return this.output + this.#awaited > 0 && this.pending === 1;
  }

  /**
   * It can be in the next step: its consumer takes tokens, and the steps in flight are
   * not its last.
   */
  get isDue(): boolean {
    return (
      !this.paused &&
      this.ending === undefined &&
      this.output + this.#awaited < this.request.maxTokens
    );
  }

  /**
   * Most tokens that it ever has in memory: the last one drawn is emitted, not computed.
   */
  get most(): number {
    return this.request.prompt.length + this.request.maxTokens - 1;
  }

  get paused(): boolean {
    return this.pausedSinceMs !== undefined;
  }

  get suspect(): boolean {
    return this.computed < this.suspectUntil;
  }

  /**
   * It was in the step in which the backend died. Each time it stays alone one token
   * longer: the recompute may not be what kills.
   */
  accuse({ position, count }: StepItem<T>): void {
    this.suspectUntil = position + count + this.losses;
    this.losses += 1;
  }

  pause(nowMs: number): void {
    this.pausedSinceMs ??= nowMs;
  }

  resume(): void {
    this.pausedSinceMs = undefined;
  }

  /** Ends it; later calls change nothing. */
  endWith(end: GenerationEnd): void {
    this.ending ??= end;
  }

  /** A sequence that came later was admitted first. */
  passed(): void {
    this.overtaken += 1;
  }

  /** The memory had no room for it. */
  refused(epoch: number, nowMs: number): void {
    this.blocked = { epoch, atMs: nowMs };
  }

  /**
   * Its row begins, with this many tokens computed.
   * @param contested it had an aging turn while class 0 waited, if it is not of it
   * @returns tokens that its tenant is to be charged
   */
  admitted(computed: number, contested: boolean): number {
    this.blocked = undefined;
    this.hadTurn = contested && this.priorityClass > 0;
    this.begin(computed);
    const due = this.#charged ? 0 : this.pending;
    this.#charged = true;
    return due;
  }

  /** It left its row, and waits again. @param preempted it had to */
  requeued(preempted: boolean): void {
    if (preempted && !this.paused) this.preemptions += 1;
    this.blocked = undefined;
    this.begin(0);
  }

  /** Begins, or begins again, with this many tokens computed. */
  begin(computed: number): void {
    this.computed = computed;
    this.rewind();
  }

  /** Its next `count` tokens as an item of a step. */
  item(count: number, blocks: readonly number[]): StepItem<T> {
    const { request, planned: position } = this;
    const tokens = this.tokens.slice(position, position + count);
    return { request, position, count, tokens, sample: count === this.pending, blocks };
  }

  /** The item is in a step in flight. */
  started({ count, sample }: StepItem<T>): void {
    this.planned += count;
    if (sample) this.#awaited += 1;
  }

  /** The step succeeded. */
  completed({ count, sample }: StepItem<T>): void {
    this.computed += count;
    if (sample) this.#awaited -= 1;
  }

  /** The steps in flight failed or were skipped. */
  rewind(): void {
    this.planned = this.computed;
    this.#awaited = 0;
  }
}

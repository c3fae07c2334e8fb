import { type CancelReason, type GenerationEnd, type Refusal } from '../../core/iteration/generation-request.js';
import { DomainError } from '../../core/shared/domain-error.js';
import { type GenerationEvent } from '../engines/engine.js';
import { type AnswerWriter } from './answer-writer.js';
import { Choice, type ChoiceListener, type ChoiceOptions, type Said } from './choice.js';
import { contextExceeded } from './context-limit.js';
import { EventBuffer } from './event-buffer.js';
import { type StepLoop } from './step-loop.js';
import { type TextSequence } from './text-backend.port.js';

/** Chunks that wait for a slow reader until its sequences pause, and when they go on. */
const HIGH_CHUNKS = 64;
const LOW_CHUNKS = 16;

export interface AnswerOptions {
  readonly requestId: string;
  readonly form: 'chat' | 'completion';
  readonly loop: StepLoop;
  readonly writer: AnswerWriter;
  /** By prompt: the sequences of its choices, all with that prompt. */
  readonly sequences: readonly (readonly TextSequence[])[];
  readonly choice: Pick<ChoiceOptions, 'stop' | 'tools'>;
  /** Monotonic milliseconds at which it was asked for. */
  readonly sinceMs: number;
  readonly nowMs: () => number;
}

/**
 * One answer while it is made: its choices run side by side, and one that fails or is cancelled ends all. The choices of a prompt
 * join when the first of them has computed it: they find it in the cache.
 */
export class RunningAnswer implements ChoiceListener {
  readonly events: EventBuffer<GenerationEvent>;
  /** Resolves when nothing of it is in the scheduler any more. */
  readonly over: Promise<void>;
  readonly #options: AnswerOptions;
  readonly #choices: readonly (readonly Choice[])[];
  readonly #here = new Set<Choice>();
  readonly #finishReasons = new Map<number, string>();
  #cachedTokens = 0;
  #firstTokenMs: number | undefined;
  #paused = false;
  #failure: Error | undefined;
  #end: () => void = () => undefined;

  constructor(options: AnswerOptions) {
    this.#options = options;
    const { sequences, choice } = options;
    const n = sequences[0]?.length ?? 0;
    this.#choices = sequences.map((ofPrompt, prompt) =>
      ofPrompt.map((sequence, at) => new Choice(sequence, { ...choice, index: prompt * n + at, listener: this })),
    );
    this.over = new Promise(resolve => (this.#end = resolve));
    this.events = new EventBuffer<GenerationEvent>({
      ...{ high: HIGH_CHUNKS, low: LOW_CHUNKS },
      onFull: () => this.#pause(),
      onRoom: () => this.#resume(),
    });
  }

  start(): void {
    for (const [first] of this.#choices) if (first && !this.#failure) this.#submit(first);
    this.#endIfOver();
  }

  /** Nothing more is told. Without effect on one that is over. */
  cancel(reason: CancelReason): void {
    this.#fail(new DomainError('request_cancelled', `Request ${this.#options.requestId} was cancelled.`), reason);
    this.#endIfOver();
  }

  begun({ index }: Choice, cachedTokens: number): void {
    // Only the first choice of a prompt tells what was there before this request.
    if (this.#choices.some(([first]) => first?.index === index)) this.#cachedTokens += cachedTokens;
  }

  said(choice: Choice, said: Said): void {
    const { writer, nowMs, sinceMs } = this.#options;
    this.#firstTokenMs ??= nowMs() - sinceMs;
    this.#push(writer.said(choice, said));
    if (choice.tokens === 1) this.#submitSiblings(choice);
  }

  ended(choice: Choice, end: GenerationEnd): void {
    this.#here.delete(choice);
    if (end.type === 'finished') this.#finished(choice, end.reason);
    else this.#fail(this.#errorOf(end), 'consumer_gone');
    this.#endIfOver();
  }

  #finished(choice: Choice, reason: string): void {
    const finishReason = choice.calls > 0 ? 'tool_calls' : reason;
    this.#finishReasons.set(choice.index, finishReason);
    this.#push(this.#options.writer.ended(choice, finishReason));
    this.#submitSiblings(choice);
  }

  #submitSiblings(choice: Choice): void {
    const siblings = this.#choices.find(([first]) => first === choice)?.slice(1) ?? [];
    for (const sibling of siblings) {
      const isKnown = this.#here.has(sibling) || this.#finishReasons.has(sibling.index);
      if (!this.#failure && !isKnown) this.#submit(sibling);
    }
  }

  #submit(choice: Choice): void {
    const refusal = this.#options.loop.submit(choice);
    if (refusal) return this.#fail(this.#refused(choice, refusal), 'consumer_gone');
    this.#here.add(choice);
    if (this.#paused) this.#options.loop.pause(choice);
  }

  #push(said: readonly object[]): void {
    if (this.#failure || said.length === 0) return;
    this.events.push(...said.map(json => ({ type: 'chunk' as const, json: JSON.stringify(json) })));
  }

  /** The first failure is the one that is told. */
  #fail(error: Error, reason: CancelReason): void {
    if (this.#failure) return;
    this.#failure = error;
    this.events.clear();
    for (const choice of [...this.#here]) this.#options.loop.cancel(choice, reason);
  }

  #endIfOver(): void {
    const all = this.#choices.flat();
    if (this.#here.size > 0 || (!this.#failure && this.#finishReasons.size < all.length)) return;
    if (!this.#failure) this.#close(all);
    this.events.end(this.#failure);
    this.#end();
  }

  #close(all: readonly Choice[]): void {
    const usage = {
      promptTokens: this.#choices.reduce((sum, [first]) => sum + (first?.prompt.length ?? 0), 0),
      completionTokens: all.reduce((sum, { tokens }) => sum + tokens, 0),
      cachedTokens: this.#cachedTokens,
    };
    this.#push(this.#options.writer.close(usage));
    const finishReasons = all.map(({ index }) => this.#finishReasons.get(index)!);
    const firstTokenMs = this.#firstTokenMs;
    this.events.push({ type: 'done', usage, finishReasons, ...(firstTokenMs !== undefined && { firstTokenMs }) });
  }

  #pause(): void {
    this.#paused = true;
    for (const choice of this.#here) this.#options.loop.pause(choice);
  }

  #resume(): void {
    this.#paused = false;
    for (const choice of this.#here) this.#options.loop.resume(choice);
  }

  #errorOf(end: Exclude<GenerationEnd, { type: 'finished' }>): Error {
    const { requestId } = this.#options;
    if (end.type === 'failed') return end.error;
    if (end.type === 'deadline') return new DomainError('inference_timeout', `Request ${requestId} took too long.`);
    return new DomainError('request_cancelled', `Request ${requestId} was cancelled.`);
  }

  #refused({ prompt }: Choice, { reason, tokens, limit }: Refusal): Error {
    const { form } = this.#options;
    if (reason === 'empty_prompt') {
      const param = form === 'chat' ? 'messages' : 'prompt';
      return new DomainError('invalid_value', `\`${param}\` comes to no tokens.`, { param });
    }
    return contextExceeded({ form, promptTokens: prompt.length, tokens, limit });
  }
}

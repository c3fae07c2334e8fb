import { writeJson } from '@switchyard/engine-api/exact-numbers.js';
import { invalidField } from '@switchyard/engine-api/field-problems.js';
import {
  type SequenceCancelReason,
  type GenerationEnd,
  type SubmitRefusal,
} from '@switchyard/engine-api/generation-request.js';
import { type TextSequence } from '@switchyard/engine-api/text-backend.port.js';
import { DomainError } from '../../core/errors/domain-error.js';
import { type GenerationEvent } from '../engines/text-generator.js';
import { type answerWriter } from './answer-writer.js';
import { Choice, type ChoiceOutput } from './choice.js';
import { type StepLoop } from './step-loop.js';

/** Chunks that wait for a slow reader until its sequences pause, and when they go on. */
const HIGH_CHUNKS = 64;
const LOW_CHUNKS = 16;

/**
 * What was made and not yet asked for. It never refuses: whoever fills it is told to
 * stop, and may bring a little more.
 */
class EventBuffer implements AsyncIterable<GenerationEvent> {
  readonly #waiting: GenerationEvent[] = [];
  #isFull = false;
  #end: { readonly error?: Error } | undefined;
  #wake: () => void = () => undefined;

  constructor(
    private readonly onFull: () => void,
    private readonly onRoom: () => void,
  ) {}

  push(...events: readonly GenerationEvent[]): void {
    if (this.#end) return;
    this.#waiting.push(...events);
    this.#wake();
    if (this.#isFull || this.#waiting.length < HIGH_CHUNKS) return;
    this.#isFull = true;
    this.onFull();
  }

  /** Ends it after what waits, or, with `error`, at once. The first end counts. */
  end(error?: Error): void {
    if (this.#end) return;
    this.#end = error ? { error } : {};
    if (error) this.clear();
    this.#wake();
  }

  /** Discards what waits. */
  clear(): void {
    this.#waiting.length = 0;
  }

  /** The events of the answer, for one reader. @throws the error that ended it */
  async *[Symbol.asyncIterator](): AsyncGenerator<GenerationEvent> {
    for (;;) {
      const next = this.#waiting.shift();
      if (next !== undefined) {
        this.#tellRoom();
        yield next;
      } else if (this.#end) {
        if (this.#end.error) throw this.#end.error;
        return;
      } else await new Promise<void>(resolve => (this.#wake = resolve));
    }
  }

  #tellRoom(): void {
    if (!this.#isFull || this.#waiting.length > LOW_CHUNKS) return;
    this.#isFull = false;
    this.onRoom();
  }
}

/** What can never fit, in OpenAI's words: clients look for them. */
export function contextExceeded(
  form: 'chat' | 'completion',
  promptTokens: number,
  { tokens, limit }: Pick<SubmitRefusal, 'tokens' | 'limit'>,
): DomainError {
  const param = form === 'chat' ? 'messages' : 'prompt';
  const asked =
    promptTokens >= limit
      ? `your ${param} resulted in ${promptTokens} tokens. Please reduce the length of the ${param}`
      : `you requested ${tokens} tokens (${promptTokens} in the ${param}, ` +
        `${tokens - promptTokens} in the completion). Please reduce the length of the ${param} or completion`;
  const message = `This model's maximum context length is ${limit} tokens. However, ${asked}.`;
  return new DomainError('context_length_exceeded', message, { param });
}

/**
 * One answer while it is made: its choices run side by side, and one that fails or is
 * cancelled ends all. The choices of a prompt join when the first of them has computed
 * it: they find it in the cache. Those beyond the window wait here, and are queued when
 * they join, so that no request waits behind more of one request than can run at a time.
 */
export class RunningAnswer {
  readonly events = new EventBuffer(
    () => this.#pause(),
    () => this.#resume(),
  );
  readonly #over = Promise.withResolvers<void>();
  /** Resolves when the scheduler holds none of its sequences. */
  readonly over = this.#over.promise;
  readonly #all: readonly Choice[];
  /** Choices of each prompt. */
  readonly #n: number;
  /**
   * Not in the scheduler yet, last one first: those whose prompt is computed, before
   * those that begin another.
   */
  readonly #waiting: Choice[];
  readonly #here = new Set<Choice>();
  readonly #finishReasons = new Map<number, string>();
  /** The first choice of each prompt, once its prompt is computed. */
  readonly #computed = new Set<Choice>();
  #isStarted = false;
  #cachedTokens = 0;
  #firstTokenMs: number | undefined;
  #paused = false;
  #failure: Error | undefined;

  constructor(
    private readonly options: {
      readonly requestId: string;
      readonly form: 'chat' | 'completion';
      readonly loop: StepLoop;
      readonly writer: ReturnType<typeof answerWriter>;
      /** By prompt: the sequences of its choices, all with that prompt. */
      readonly sequences: readonly (readonly TextSequence[])[];
      readonly choice: Omit<ConstructorParameters<typeof Choice>[1], 'index' | 'listener'>;
      /** Sequences that may be in the scheduler at a time. */
      readonly window: number;
      /** Monotonic milliseconds at which it was asked for. */
      readonly sinceMs: number;
      readonly nowMs: () => number;
    },
  ) {
    const { sequences, choice } = options;
    this.#n = sequences[0]?.length ?? 0;
    this.#all = sequences
      .flat()
      .map((sequence, index) => new Choice(sequence, { ...choice, index, listener: this }));
    this.#waiting = this.#all.filter(one => this.#isFirst(one)).reverse();
  }

  start(): void {
    this.#fill();
    this.#isStarted = true;
    this.#endIfOver();
  }

  /** Ends the answer without further events; without effect on one that has ended. */
  cancel(reason: SequenceCancelReason): void {
    this.#fail(this.#errorOf({ type: 'cancelled', reason }), reason);
    this.#endIfOver();
  }

  begun(choice: Choice, cachedTokens: number): void {
    // Only the first choice of a prompt tells what was there before this request.
    if (this.#isFirst(choice)) this.#cachedTokens += cachedTokens;
  }

  said(choice: Choice, said: ChoiceOutput): void {
    const { writer, nowMs, sinceMs } = this.options;
    this.#firstTokenMs ??= nowMs() - sinceMs;
    this.#push(writer.said(choice, said));
    if (choice.tokens > 0) this.#callSiblings(choice);
  }

  ended(choice: Choice, end: GenerationEnd): void {
    this.#here.delete(choice);
    if (end.type === 'finished') this.#finished(choice, end.reason);
    else this.#fail(this.#errorOf(end), 'consumer_gone');
    this.#fill();
    this.#endIfOver();
  }

  #finished(choice: Choice, reason: string): void {
    const isCall = reason === 'stop' && choice.calls > 0 && !this.options.choice.tools?.named;
    const finishReason = isCall ? 'tool_calls' : reason;
    this.#finishReasons.set(choice.index, finishReason);
    this.#push(this.options.writer.ended(choice, finishReason));
    this.#callSiblings(choice);
  }

  #isFirst({ index }: Choice): boolean {
    return index % this.#n === 0;
  }

  /** The prompt of `choice` is computed: its siblings may begin. */
  #callSiblings(choice: Choice): void {
    if (!this.#isFirst(choice) || this.#computed.has(choice)) return;
    this.#computed.add(choice);
    this.#waiting.push(...this.#all.slice(choice.index + 1, choice.index + this.#n).reverse());
    this.#fill();
  }

  #fill(): void {
    while (!this.#failure && this.#here.size < this.options.window) {
      const next = this.#waiting.pop();
      if (next === undefined) return;
      this.#submit(next);
    }
  }

  #submit(choice: Choice): void {
    if (choice.over) return choice.ended({ type: 'finished', reason: choice.over });
    if (this.#isStarted) choice.arrived(this.options.nowMs());
    const refusal = this.options.loop.submit(choice);
    if (refusal) return this.#fail(this.#refused(choice, refusal), 'consumer_gone');
    this.#here.add(choice);
    if (this.#paused) this.options.loop.pause(choice);
  }

  #push(said: readonly object[]): void {
    if (this.#failure || said.length === 0) return;
    this.events.push(...said.map(json => ({ type: 'chunk' as const, json: writeJson(json) })));
  }

  /** The first failure is the one that is reported. */
  #fail(error: Error, reason: SequenceCancelReason): void {
    if (this.#failure) return;
    this.#failure = error;
    this.events.clear();
    for (const choice of [...this.#here]) this.options.loop.cancel(choice, reason);
  }

  #endIfOver(): void {
    if (this.#here.size > 0 || (!this.#failure && this.#finishReasons.size < this.#all.length))
      return;
    if (!this.#failure) this.#close();
    this.events.end(this.#failure);
    this.#over.resolve();
  }

  #close(): void {
    const usage = {
      promptTokens: this.#all
        .filter(one => this.#isFirst(one))
        .reduce((sum, { prompt, begunTokens }) => sum + prompt.length - begunTokens, 0),
      completionTokens: this.#all.reduce(
        (sum, { begunTokens, tokens }) => sum + begunTokens + tokens,
        0,
      ),
      cachedTokens: this.#cachedTokens,
    };
    this.#push(this.options.writer.close(usage));
    const finishReasons = this.#all.map(({ index }) => this.#finishReasons.get(index)!);
    const firstTokenMs = this.#firstTokenMs;
    this.events.push({ type: 'done', usage, finishReasons, firstTokenMs });
  }

  #pause(): void {
    this.#paused = true;
    for (const choice of this.#here) this.options.loop.pause(choice);
  }

  #resume(): void {
    this.#paused = false;
    for (const choice of this.#here) this.options.loop.resume(choice);
  }

  #errorOf(end: Exclude<GenerationEnd, { type: 'finished' }>): Error {
    const { requestId } = this.options;
    if (end.type === 'failed') return end.error;
    if (end.type === 'deadline')
      return new DomainError('inference_timeout', `Request ${requestId} took too long.`);
    return new DomainError('request_cancelled', `Request ${requestId} was cancelled.`);
  }

  #refused({ prompt }: Choice, refusal: SubmitRefusal): Error {
    const { form } = this.options;
    if (refusal.reason === 'empty_prompt') {
      const param = form === 'chat' ? 'messages' : 'prompt';
      return invalidField(param, `\`${param}\` comes to no tokens.`);
    }
    return contextExceeded(form, prompt.length, refusal);
  }
}

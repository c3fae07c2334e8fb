import { type GenerationEnd } from '@switchyard/engine-api/generation-request.js';
import {
  type Drawn,
  type Sampling,
  type TextSequence,
} from '@switchyard/engine-api/text-backend.port.js';
import { answerReader, type ReaderOptions } from './answer-reader.js';
import { AnswerText, type PlacedToken } from './answer-text.js';
import { type WantedTools } from './generation-params.js';
import { type LiveSequence } from './sequence-events.js';
import { type ToolCall } from './tool-call-reader.js';

/** What a step added to a choice. */
export interface ChoiceOutput {
  readonly text: string;
  readonly tokens: readonly PlacedToken[];
  readonly calls: readonly ToolCall[];
  /** What the model thinks before it answers. */
  readonly reasoning: string;
  /**
   * The token that it came with; absent: the answer has ended, and this was
   * held until then.
   */
  readonly token?: number;
}

interface ChoiceOptions extends ReaderOptions {
  readonly index: number;
  readonly stop: readonly string[];
  readonly tools?: WantedTools;
  /**
   * The answer so far, which was told before: it is read again, so that what comes next
   * is told as it would have been.
   */
  readonly begun: readonly (Drawn & { readonly token: number })[];
  readonly listener: {
    begun(choice: Choice, cachedTokens: number): void;
    said(choice: Choice, said: ChoiceOutput): void;
    ended(choice: Choice, end: GenerationEnd): void;
  };
}

/**
 * One choice of an answer: a sequence of the scheduler, and its tokens on their
 * way to text.
 */
export class Choice implements LiveSequence {
  readonly priorityClass: number;
  readonly agingShare?: number;
  /** Its order among waiting choices, until it is submitted. */
  arrivalMs: number;
  readonly tenant: string;
  readonly tenantWeight?: number;
  readonly salt: string;
  readonly prompt: readonly number[];
  readonly maxTokens: number;
  readonly sampling: Sampling;
  readonly begunTokens: number;
  /** Why the continued answer was complete already; undefined: it was not. */
  readonly over: 'stop' | 'length' | undefined;
  /** Tokens of the answer, those of a stop string included. */
  tokens = 0;
  /** Calls of tools so far. */
  calls = 0;
  readonly #text: AnswerText;
  readonly #reader: ReturnType<typeof answerReader>;
  #next: ChoiceOutput = NOTHING;
  /** Whether the answer ended with a call: text after it is not shown. */
  #cut = false;

  constructor(
    sequence: TextSequence,
    private readonly options: ChoiceOptions,
  ) {
    ({
      priorityClass: this.priorityClass,
      agingShare: this.agingShare,
      arrivalMs: this.arrivalMs,
      tenant: this.tenant,
      tenantWeight: this.tenantWeight,
      salt: this.salt,
      prompt: this.prompt,
      maxTokens: this.maxTokens,
      sampling: this.sampling,
      begunTokens: this.begunTokens = 0,
    } = sequence);
    this.#text = new AnswerText(options.stop);
    this.#reader = answerReader(options);
    const isStopped = options.begun.map(drawn => this.#readAgain(drawn)).includes(true);
    this.over = isStopped ? 'stop' : this.maxTokens < 1 ? 'length' : undefined;
  }

  get index(): number {
    return this.options.index;
  }

  /** The text of `stop` that ended it. */
  get stoppedBy(): string | undefined {
    return this.#text.stoppedBy;
  }

  /** It is submitted when others of its answer have begun. */
  arrived(nowMs: number): void {
    this.arrivalMs = nowMs;
  }

  begun(cachedTokens: number): void {
    this.options.listener.begun(this, cachedTokens);
  }

  read(token: number, drawn: Drawn): boolean {
    this.#next = { ...this.#withCalls(this.#text.take(drawn), false), token };
    this.#cut = this.options.tools?.parallel === false && this.#next.calls.length > 0;
    return this.stoppedBy !== undefined || this.#cut;
  }

  emitted(): void {
    this.tokens += 1;
    this.#tell(this.#next);
  }

  ended(end: GenerationEnd): void {
    if (end.type === 'finished' && !this.#cut)
      this.#tell(this.#withCalls(this.#text.flush(), true, end.reason === 'length'));
    this.options.listener.ended(this, end);
  }

  #readAgain(begun: ChoiceOptions['begun'][number]): boolean {
    const isLast = this.read(begun.token, begun);
    this.calls += this.#next.calls.length;
    return isLast;
  }

  #tell(said: ChoiceOutput): void {
    this.calls += said.calls.length;
    this.options.listener.said(this, said);
  }

  /** @param isCut the answer ended, but the model did not end it */
  #withCalls(
    { text: drawn, tokens }: ReturnType<AnswerText['take']>,
    last: boolean,
    isCut = false,
  ): ChoiceOutput {
    const part = last ? this.#reader.flush(drawn, isCut) : this.#reader.take(drawn);
    const { content: text, reasoning, calls } = part;
    return {
      text,
      tokens,
      reasoning,
      calls: this.options.tools?.parallel ? calls : calls.slice(0, 1),
    };
  }
}

const NOTHING: ChoiceOutput = { text: '', tokens: [], calls: [], reasoning: '' };

import { randomBytes } from 'node:crypto';
import {
  chatLogprobs,
  type ChoiceDelta,
  completionLogprobs,
  generationBody,
  generationChunk,
  type GenerationHead,
  type ToolCallBody,
  usageChunk,
} from '../../contracts/formats/generation-body.js';
import { inputOf } from '../../contracts/openai/read-tools.js';
import { type TokenUsage } from '@switchyard/engine-api/text-embedder.js';
import { type PlacedToken } from './answer-text.js';
import { type Choice, type ChoiceOutput } from './choice.js';
import { type ToolCall } from './tool-call-reader.js';

/**
 * How an answer is told: JSON objects in OpenAI's form, in order, as it comes or
 * at its end.
 */
export interface AnswerWriter {
  said(choice: Choice, said: ChoiceOutput): readonly object[];
  ended(choice: Choice, finishReason: string): readonly object[];
  close(usage: TokenUsage): readonly object[];
}

interface WriterOptions {
  readonly head: GenerationHead;
  readonly logprobs: boolean;
  /** A stream's last chunk is its usage. */
  readonly includeUsage: boolean;
  /** Chunks bring the tokens that made them. */
  readonly tokenIds: boolean;
  /** Names of custom tools. */
  readonly custom: readonly string[];
}

/**
 * A chunk per token; the first of a choice says whose words follow, the last
 * why it ended.
 */
export class ChunkWriter implements AnswerWriter {
  readonly #begun = new Set<Choice>();
  /** Tokens whose text is held back. */
  readonly #untold = new Map<Choice, readonly number[]>();

  constructor(private readonly options: WriterOptions) {}

  said(choice: Choice, output: ChoiceOutput): readonly object[] {
    const opening = this.#opening(choice);
    const tokenIds = this.#tokenIds(choice, output.token);
    const shown = this.#shown(choice, output);
    if (shown === undefined) {
      if (tokenIds) this.#untold.set(choice, tokenIds);
      return opening;
    }
    this.#untold.delete(choice);
    return [...opening, this.#chunk(choice, tokenIds ? { ...shown, tokenIds } : shown)];
  }

  ended(choice: Choice, finishReason: string): readonly object[] {
    const { stoppedBy } = choice;
    return [...this.#opening(choice), this.#chunk(choice, { finishReason, stoppedBy })];
  }

  close(usage: TokenUsage): readonly object[] {
    return this.options.includeUsage ? [usageChunk(this.options.head, usage)] : [];
  }

  /**
   * As OpenAI, a chat begins with a delta that has the role only; it tells the first
   * token even while its text is held back.
   */
  #opening(choice: Choice): readonly object[] {
    if (this.options.head.form !== 'chat' || this.#begun.has(choice)) return [];
    this.#begun.add(choice);
    return [this.#chunk(choice, { first: true })];
  }

  /** Tokens that were not told yet; undefined: they are not wanted. */
  #tokenIds(choice: Choice, token: number | undefined): readonly number[] | undefined {
    if (!this.options.tokenIds || token === undefined) return undefined;
    return [...(this.#untold.get(choice) ?? []), token];
  }

  /** Undefined: there is nothing to show yet. */
  #shown(
    choice: Choice,
    { text, tokens, calls, reasoning }: ChoiceOutput,
  ): Partial<ChoiceDelta> | undefined {
    const { head, logprobs, custom } = this.options;
    const scored = logprobs && tokens.length > 0;
    if (text === '' && reasoning === '' && calls.length === 0 && !scored)
      return undefined;
    return {
      text,
      reasoning,
      ...(scored && { logprobs: logprobsOf(head, tokens) }),
      ...(calls.length > 0 && {
        toolCalls: {
          at: choice.calls - calls.length,
          calls: calls.map(call => named(call, custom)),
        },
      }),
    };
  }

  #chunk({ index }: Choice, delta: Partial<ChoiceDelta>): object {
    const whole = { index, text: '', first: false, finishReason: null, ...delta };
    return generationChunk(this.options.head, whole, this.options.includeUsage);
  }
}

/** One object at the end. */
export class WholeWriter implements AnswerWriter {
  readonly #choices: Record<
    number,
    {
      text: string;
      reasoning: string;
      finishReason: string;
      readonly tokens: PlacedToken[];
      readonly toolCalls: ToolCallBody[];
    }
  > = {};

  constructor(private readonly options: WriterOptions) {}

  said(
    choice: Choice,
    { text, tokens, calls, reasoning }: ChoiceOutput,
  ): readonly object[] {
    const gathered = this.#of(choice);
    gathered.text += text;
    gathered.reasoning += reasoning;
    if (this.options.logprobs) gathered.tokens.push(...tokens);
    gathered.toolCalls.push(...calls.map(call => named(call, this.options.custom)));
    return [];
  }

  ended(choice: Choice, finishReason: string): readonly object[] {
    Object.assign(this.#of(choice), { finishReason, stoppedBy: choice.stoppedBy });
    return [];
  }

  close(usage: TokenUsage): readonly object[] {
    const { head, logprobs } = this.options;
    const choices = Object.values(this.#choices).map(({ tokens, ...choice }) => ({
      ...choice,
      ...(logprobs && { logprobs: logprobsOf(head, tokens) }),
    }));
    return [generationBody(head, choices, usage)];
  }

  #of({ index }: Choice) {
    return (this.#choices[index] ??= {
      text: '',
      reasoning: '',
      finishReason: 'stop',
      tokens: [],
      toolCalls: [],
    });
  }
}

function named(call: ToolCall, custom: readonly string[]): ToolCallBody {
  const id = `call_${randomBytes(12).toString('hex')}`;
  if (!custom.includes(call.name)) return { id, type: 'function', ...call };
  const input = inputOf(call.arguments) ?? call.arguments;
  return { id, type: 'custom', name: call.name, arguments: input };
}

function logprobsOf({ form }: GenerationHead, placed: readonly PlacedToken[]): object {
  const tokens = placed.map(({ drawn, offset }) => {
    const { bytes, logprob = 0, top = [] } = drawn;
    return { bytes, logprob, top, offset };
  });
  return form === 'chat' ? chatLogprobs(tokens) : completionLogprobs(tokens);
}

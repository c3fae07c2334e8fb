import { randomBytes } from 'node:crypto';
import { type TokenUsage } from '@switchyard/engine-api/text-embedder.js';
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
import { type PlacedToken } from './answer-text.js';
import { type Choice, type ChoiceOutput } from './choice.js';
import { type ToolCall } from './tool-call-reader.js';

/**
 * How an answer is told: JSON objects in OpenAI's form, in order, as it comes or
 * at its end.
 */
interface AnswerWriter {
  said(choice: Choice, said: ChoiceOutput): readonly object[];
  ended(choice: Choice, finishReason: string): readonly object[];
  close(usage: TokenUsage): readonly object[];
}

interface WriterOptions {
  readonly head: GenerationHead;
  readonly logprobs: boolean;
  /** Whether a stream's last chunk is its usage. */
  readonly includeUsage: boolean;
  /** Whether chunks list the ids of their tokens. */
  readonly tokenIds: boolean;
  /** Names of custom tools. */
  readonly custom: readonly string[];
}

/** @param stream a chunk per token, else one object at the end */
export const answerWriter = (stream: boolean, options: WriterOptions): AnswerWriter =>
  stream ? chunkWriter(options) : wholeWriter(options);

/** The first chunk of a choice says whose words follow, the last why it ended. */
function chunkWriter(options: WriterOptions): AnswerWriter {
  const { head, includeUsage } = options;
  const begun = new Set<Choice>();
  /** Tokens whose text has not been sent yet. */
  const untold = new Map<Choice, readonly number[]>();
  const chunk = ({ index }: Choice, delta: Partial<ChoiceDelta>): object => {
    const whole = { index, text: '', first: false, finishReason: null, ...delta };
    return generationChunk(head, whole, includeUsage);
  };
  /**
   * As OpenAI, a chat begins with a delta that has the role only; it tells the first
   * token even while its text is held back.
   */
  const opening = (choice: Choice): readonly object[] => {
    if (head.form !== 'chat' || begun.has(choice)) return [];
    begun.add(choice);
    return [chunk(choice, { first: true })];
  };
  return {
    said: (choice, output) => {
      const first = opening(choice);
      const tokenIds =
        options.tokenIds && output.token !== undefined
          ? [...(untold.get(choice) ?? []), output.token]
          : undefined;
      const shown = shownOf(choice, output, options);
      if (shown === undefined) {
        if (tokenIds) untold.set(choice, tokenIds);
        return first;
      }
      untold.delete(choice);
      return [...first, chunk(choice, tokenIds ? { ...shown, tokenIds } : shown)];
    },
    ended: (choice, finishReason) => {
      const { stoppedBy } = choice;
      return [...opening(choice), chunk(choice, { finishReason, stoppedBy })];
    },
    close: usage => (includeUsage ? [usageChunk(head, usage)] : []),
  };
}

/** Undefined: there is nothing to show yet. */
function shownOf(
  choice: Choice,
  { text, tokens, calls, reasoning }: ChoiceOutput,
  { head, logprobs, custom }: WriterOptions,
): Partial<ChoiceDelta> | undefined {
  const scored = logprobs && tokens.length > 0;
  if (text === '' && reasoning === '' && calls.length === 0 && !scored) return undefined;
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

function wholeWriter({ head, logprobs, custom }: WriterOptions): AnswerWriter {
  const choices: Record<
    number,
    {
      text: string;
      reasoning: string;
      finishReason: string;
      readonly tokens: PlacedToken[];
      readonly toolCalls: ToolCallBody[];
    }
  > = {};
  const of = ({ index }: Choice) =>
    (choices[index] ??= {
      text: '',
      reasoning: '',
      finishReason: 'stop',
      tokens: [],
      toolCalls: [],
    });
  return {
    said: (choice, said) => {
      const gathered = of(choice);
      gathered.text += said.text;
      gathered.reasoning += said.reasoning;
      if (logprobs) gathered.tokens.push(...said.tokens);
      gathered.toolCalls.push(...said.calls.map(call => named(call, custom)));
      return [];
    },
    ended: (choice, finishReason) => {
      Object.assign(of(choice), { finishReason, stoppedBy: choice.stoppedBy });
      return [];
    },
    close: usage => {
      const bodies = Object.values(choices).map(({ tokens, ...choice }) =>
        logprobs ? { ...choice, logprobs: logprobsOf(head, tokens) } : choice,
      );
      return [generationBody(head, bodies, usage)];
    },
  };
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

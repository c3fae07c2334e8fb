import { type GenerationPlan, type StepOutcome } from './generation-plan.js';
import { type GenerationRequest, type KvMemory } from './generation-request.js';
import { type Fields } from './is-object.js';

/**
 * Executes steps: llama.cpp, or the simulator of the tests. It decides nothing.
 *
 * - All items of a plan go through the model in one native run.
 * - An item reads the positions before its own through `blocks`, and writes its own. What
 *   stood there is void: the
 *   plan after a failed step, and a preempted sequence, compute the same positions again.
 * - An item without tokens reads the one that the step before drew for the same request;
 *   drew that none, any token
 *   will do: the request has ended, and the result is ignored.
 * - A drawn token depends on the request, its position and the tokens before it, on
 *   nothing else. Then preemption, a
 *   retry and a restart of the backend give the same text.
 */
export interface StepBackend<T> {
  /** Its KV memory: the scheduler allocates in it, `run` computes in it. */
  readonly memory: KvMemory<object>;
  /**
   * One at a time; a plan made ahead may be sent while the one before it runs, and is run
   * right behind it.
   * @throws Error when the backend is gone with all it kept: call
   *   `GenerationScheduler.lost`
   */
  run(plan: GenerationPlan<T>): Promise<StepOutcome<T>>;
  /** Waits for the step that runs. Idempotent. */
  close(): Promise<void>;
}

/** What the answer must match. */
export type Grammar = (
  | { readonly type: 'json_object' }
  | { readonly type: 'json_schema'; readonly schema: object }
  | { readonly type: 'gbnf'; readonly text: string }
  /** The whole answer matches a regular expression. */
  | { readonly type: 'regex'; readonly pattern: string }
  /** The answer is calls of these tools: one, or several where they are wanted. */
  | {
      readonly type: 'tool_calls';
      readonly tools: readonly GrammarTool[];
      readonly several: boolean;
      /** How the model writes tool calls; absent: `hermes`. */
      readonly form?: ToolForm;
    }
) & {
  /** Name of the field of the request, for error messages; absent: OpenAI's name. */
  readonly param?: string;
};

/**
 * How a model writes calls of tools:
 * - `hermes`: JSON between `<tool_call>` and `</tool_call>`; also of models whose template
 *   knows no tools
 * - `qwen-xml` (Qwen3-Coder): an element per parameter between the same marks
 * - `llama3`: the answer is one JSON object with `parameters`
 * - `mistral`: a JSON list behind `[TOOL_CALLS]`; `mistral-args`: name, `[ARGS]` and
 *   arguments behind each mark
 * - `gpt-oss`: a message of its own for each, told by its header
 */
export type ToolForm = 'hermes' | 'qwen-xml' | 'llama3' | 'mistral' | 'mistral-args' | 'gpt-oss';

export interface GrammarTool {
  readonly name: string;
  /** A JSON schema; absent: the function takes none. */
  readonly parameters?: object;
  /** Path of the schema in the request, for error messages. */
  readonly path: string;
}

/**
 * How tokens of one sequence are drawn. A draw depends on (seed, position, tokens before)
 * and on nothing else (`StepBackend`).
 */
export interface Sampling {
  /** 0: always the likeliest. */
  readonly temperature: number;
  readonly topP: number;
  /** 0: no limit. */
  readonly topK: number;
  readonly minP: number;
  readonly frequencyPenalty: number;
  readonly presencePenalty: number;
  /** 1: none. */
  readonly repeatPenalty: number;
  /** 0..2^32 - 1 */
  readonly seed: number;
  /** Added to the logits of these tokens, -100..100. */
  readonly logitBias?: ReadonlyMap<number, number>;
  readonly grammar?: Grammar;
  /**
   * Alternatives wanted per drawn token; 0: only the drawn one's own log-probability;
   * absent: none at all.
   */
  readonly logprobs?: number;
}

/** One sequence: what `GenerationScheduler` schedules, and how its tokens are drawn. */
export interface TextSequence extends GenerationRequest {
  readonly sampling: Sampling;
  /**
   * Tokens at the end of the prompt that are the answer so far: it is
   * continued. Absent: none.
   */
  readonly begunTokens?: number;
}

/** What a draw returns besides the token's id (`ItemResult`). */
export interface Drawn {
  /** Text of the token; may begin or end inside a character. Empty for control tokens. */
  readonly bytes: Buffer;
  /** Natural logarithm of its probability, before temperature and cuts. */
  readonly logprob?: number;
  /** Alternatives, the likeliest first. */
  readonly top?: readonly {
    readonly token: number;
    readonly bytes: Buffer;
    readonly logprob: number;
  }[];
}

export type TextOutcome =
  | (Extract<StepOutcome<TextSequence>, { type: 'done' }> & {
      /** The drawn token of each sequence that drew one. */
      readonly drawn: ReadonlyMap<TextSequence, Drawn>;
    })
  | Exclude<StepOutcome<TextSequence>, { type: 'done' }>;

/** What a caller wants to be continued; messages and tools in OpenAI's form. */
export type Prompt =
  | {
      readonly type: 'chat';
      /** Messages whose `content` is one text each. */
      readonly messages: readonly Fields[];
      readonly tools?: unknown;
      /** Variables of the chat template besides its own; absent: none. */
      readonly variables?: Fields;
    }
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'tokens'; readonly tokens: readonly number[] };

export interface TextBackendInfo {
  /** Tokens that prompt and answer may come to together. */
  readonly contextTokens: number;
  /** Sequences in one step. */
  readonly rows: number;
  /** Tokens in one step at most, `rows` or more. */
  readonly stepTokens: number;
  readonly model: string;
  /** For `EngineInfo`: "cpu", "cuda:0", ..., and the version of the loaded files. */
  readonly device: string;
  readonly revision: string;
  /** Whether the model has a chat template. */
  readonly chat: boolean;
  /** How the model writes tool calls; absent: `hermes`. */
  readonly toolForm?: ToolForm;
  /** Whether the chat template has thoughts between `<think>` and `</think>`. */
  readonly thinks?: boolean;
  readonly grammar: boolean;
  /** Defaults of the model for fields of requests, such as `temperature`. */
  readonly sampling?: Readonly<Record<string, number>>;
}

/**
 * The process behind `encode` or `check` is gone with all that it kept: `reopen`,
 * and ask again.
 */
export class BackendLost extends Error {}

/**
 * A model behind a tokenizer, a template and steps: llama.cpp, or the simulator
 * of the tests.
 */
export interface TextBackend extends StepBackend<TextSequence> {
  /** Known after `load`. */
  readonly info: TextBackendInfo;
  /**
   * Milliseconds that a step may take while a caller waits for the next
   * token; absent: 50.
   */
  readonly stepTargetMs?: number;
  /**
   * Native decode calls so far: the proof that all sequences of a plan advance in one.
   */
  readonly decodeCalls: number;
  /** Opens the model. Idempotent. @throws Error when it cannot be. */
  load(): Promise<void>;
  /**
   * May run beside a step.
   * @throws BackendLost
   * @throws EngineError invalid_value: no chat template, unknown role, image parts, token
   *   out of range.
   */
  encode(prompt: Prompt): Promise<readonly number[]>;
  /** Bytes of a token that `encode` accepts; empty for control tokens. */
  bytesOf(token: number): Buffer;
  /**
   * Before a sequence is submitted.
   * @throws BackendLost
   * @throws EngineError invalid_value: a grammar that does not compile, a biased token
   *   out of range.
   */
  check(sampling: Sampling): Promise<void>;
  run(plan: GenerationPlan<TextSequence>): Promise<TextOutcome>;
  /**
   * Nobody wants the outcome of the plans sent so far: those that still compute may end
   * early, as failed. Absent: they run to their end.
   */
  stop?(): void;
  /**
   * `run` rejected: the process is gone. Starts a new one with the model loaded, after a
   * capped back-off; the old state is void.
   */
  reopen(): Promise<void>;
}

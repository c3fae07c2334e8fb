import { type Prompt, type Sampling } from './text-backend.port.js';

export interface WantedTools {
  readonly parallel: boolean;
  /** One function was named: as with OpenAI, the answer ends with `stop`, not with `tool_calls`. */
  readonly named?: true;
}

/** What a body of chat or completions asks for, checked. */
export interface GenerationFields {
  readonly form: 'chat' | 'completion';
  /** Each is answered `n` times. */
  readonly prompts: readonly Prompt[];
  readonly n: number;
  /** Tokens per choice; absent: as many as fit. */
  readonly maxTokens?: number;
  /** Choice i of a seeded request is drawn with `seed + i`. */
  readonly sampling: Omit<Sampling, 'seed'>;
  readonly seed?: number;
  readonly stop: readonly string[];
  readonly includeUsage: boolean;
  /** Calls of tools are looked for in the answer, and it ends after the first unless several are wanted. */
  readonly tools?: WantedTools;
}

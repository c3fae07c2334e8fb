import { IgnoredFields } from '../../contracts/openai/field-rules.js';
import { isTextOrTokens, TEXT_OR_TOKENS } from '../../contracts/openai/text-or-tokens.js';
import { FieldReader } from '../../contracts/realtime/field-reader.js';
import { parseBoundedJson } from '@switchyard/engine-api/bounded-json.js';
import { DomainError } from '../../core/errors/domain-error.js';
import { type TokenItem } from '../engines/text-generator.js';
import { chatMessages, type ToolFields, toolsOf } from './chat-messages.js';
import { samplingOf, seedOf, stopOf } from './sampling-fields.js';
import {
  type Grammar,
  type Prompt,
  type Sampling,
  type TextBackendInfo,
} from '@switchyard/engine-api/text-backend.port.js';

export interface WantedTools {
  readonly parallel: boolean;
  /** Names of those that take one text. */
  readonly custom: readonly string[];
  /**
   * One function was named: as with OpenAI, the answer ends with `stop`,
   * not with `tool_calls`.
   */
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
  /** Chunks bring the tokens that made them. */
  readonly tokenIds: boolean;
  /** Tokens of the answer so far, which is continued; empty: it begins. */
  readonly begun: readonly number[];
  /**
   * Calls of tools are looked for in the answer, and it ends after the first unless
   * several are wanted.
   */
  readonly tools?: WantedTools;
}

const MOST_CHOICES = 128;
const MOST_TOKENS = 2_147_483_647;
/** OpenAI's bounds of alternatives: chat, completions. */
const MOST_ALTERNATIVES = { chat: 20, completion: 5 } as const;
/** What OpenAI takes for completions that name no limit. */
const COMPLETION_TOKENS = 16;

/**
 * @throws DomainError for the first field that cannot be honoured; unknown
 *   fields are ignored.
 */
export function parseGenerationParams(
  { form, body: json }: Pick<TokenItem, 'form' | 'body'>,
  info: TextBackendInfo,
): GenerationFields {
  // What is ignored here was reported by the gateway.
  const body = new FieldReader(parsed(json), '', new IgnoredFields());
  const seed = seedOf(body);
  const shared = {
    form,
    n: body.integer('n', 1, MOST_CHOICES) ?? 1,
    stop: stopOf(body),
    includeUsage: body.object('stream_options')?.boolean('include_usage') ?? false,
    tokenIds: body.boolean('return_token_ids') ?? false,
    begun: begunOf(body, info.contextTokens),
    ...(seed !== undefined && { seed }),
  };
  const sampling = samplingOf(body, info);
  const wanted =
    form === 'chat' ? chatFields(body, info) : completionFields(body, shared.n);
  const { logprobs, grammar, ...rest } = wanted;
  if (grammar && sampling.grammar?.type === 'gbnf')
    throw body.invalid('grammar', 'cannot be combined with `tool_choice`');
  const drawn = {
    ...sampling,
    ...(grammar && { grammar }),
    ...(logprobs !== undefined && { logprobs }),
  };
  return { ...shared, ...rest, sampling: drawn };
}

interface FormFields extends Pick<GenerationFields, 'prompts' | 'maxTokens' | 'tools'> {
  readonly logprobs?: number;
  /**
   * In place of that of `response_format`: calls come before the answer that it is about.
   */
  readonly grammar?: Grammar;
}

function chatFields(body: FieldReader, info: TextBackendInfo): FormFields {
  const maxTokens =
    body.integer('max_completion_tokens', 1, MOST_TOKENS) ??
    body.integer('max_tokens', 1, MOST_TOKENS);
  const top = body.integer('top_logprobs', 0, MOST_ALTERNATIVES.chat);
  const wanted = body.boolean('logprobs') ?? false;
  if (top !== undefined && !wanted)
    throw body.invalid('top_logprobs', 'needs `logprobs` to be true');
  demandText(body);
  const tools = toolsOf(body, info);
  const prompt: Prompt = {
    type: 'chat',
    messages: chatMessages(body),
    ...(tools && { tools: tools.tools }),
  };
  return {
    prompts: [prompt],
    ...(maxTokens !== undefined && { maxTokens }),
    ...(wanted && { logprobs: top ?? 0 }),
    ...(tools && wantedTools(tools)),
  };
}

function wantedTools({
  parallel,
  custom,
  forced,
}: ToolFields): Pick<FormFields, 'tools' | 'grammar'> {
  if (forced === undefined) return { tools: { parallel, custom } };
  return {
    tools: forced.named ? { parallel, custom, named: true } : { parallel, custom },
    grammar: { type: 'tool_calls', tools: forced.tools, several: parallel },
  };
}

function begunOf(body: FieldReader, most: number): readonly number[] {
  const tokens = body.raw('continue_token_ids') ?? [];
  const fits = Array.isArray(tokens) && tokens.length <= most;
  if (fits && tokens.every(token => Number.isInteger(token)))
    return tokens as readonly number[];
  throw body.invalid('continue_token_ids', `must be a list of at most ${most} tokens`);
}

function demandText(body: FieldReader): void {
  const modalities = body.raw('modalities');
  if (Array.isArray(modalities) && modalities.some(modality => modality !== 'text'))
    throw body.refusal('modalities', 'this model answers in text only');
  body.unsupported('audio', 'this model answers in text only');
  body.unsupported('web_search_options', 'this model does not search');
}

function completionFields(body: FieldReader, n: number): FormFields {
  const maxTokens = body.integer('max_tokens', 1, MOST_TOKENS) ?? COMPLETION_TOKENS;
  const logprobs = body.integer('logprobs', 0, MOST_ALTERNATIVES.completion);
  body.unsupported('suffix', 'this model only continues texts');
  if (body.boolean('echo')) throw body.refusal('echo', 'prompts are not told again');
  const bestOf = body.integer('best_of', 1, MOST_CHOICES);
  if (bestOf !== undefined && bestOf !== n)
    throw body.refusal('best_of', 'all choices are told, so it must be `n`');
  return {
    prompts: promptsOf(body),
    maxTokens,
    ...(logprobs !== undefined && { logprobs }),
  };
}

function promptsOf(body: FieldReader): readonly Prompt[] {
  const value = body.raw('prompt');
  if (value === undefined) throw body.missing('prompt');
  if (!isTextOrTokens(value)) throw body.invalid('prompt', TEXT_OR_TOKENS);
  const several = Array.isArray(value) && typeof value[0] !== 'number';
  const inputs = (several ? value : [value]) as readonly (string | readonly number[])[];
  return inputs.map(input =>
    typeof input === 'string'
      ? { type: 'text', text: input }
      : { type: 'tokens', tokens: input },
  );
}

function parsed(json: Buffer): unknown {
  try {
    return parseBoundedJson(json.toString('utf8'));
  } catch (error) {
    if (error instanceof DomainError) throw error;
    throw new DomainError(
      'invalid_json',
      `The body cannot be parsed: ${(error as Error).message}.`,
    );
  }
}

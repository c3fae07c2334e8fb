import { parseBoundedJson } from '@switchyard/engine-api/bounded-json.js';
import { readObject, unsupportedField, wrongField } from '@switchyard/engine-api/field-problems.js';
import { type Fields, isObject } from '@switchyard/engine-api/is-object.js';
import {
  ANY_TEXT,
  defaulted,
  FLAG,
  optional,
  unserved,
  wholeNumberFrom,
} from '@switchyard/engine-api/rules.js';
import {
  type Grammar,
  type GrammarTool,
  type Prompt,
  type Sampling,
  type TextBackendInfo,
} from '@switchyard/engine-api/text-backend.port.js';
import { z } from 'zod';
import { IgnoredFields } from '../../contracts/openai/ignored-fields.js';
import {
  type CallableTool,
  callableTools,
  functionInChat,
  readTools,
  usableTools,
} from '../../contracts/openai/read-tools.js';
import { isTextOrTokens, TEXT_OR_TOKENS } from '../../contracts/openai/text-or-tokens.js';
import { DomainError } from '../../core/errors/domain-error.js';
import { type TokenItem } from '../engines/text-generator.js';
import { chatMessages, CHAT_MESSAGES } from './chat-messages.js';
import { SAMPLING_FIELDS, samplingOf } from './sampling-fields.js';

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
  /** Whether chunks list the ids of their tokens. */
  readonly tokenIds: boolean;
  /** `maxTokens` is at most what the context has left, where the answer ends. */
  readonly clampsTokens: boolean;
  /** Tokens of the answer so far, which is continued; empty: it begins. */
  readonly begun: readonly number[];
  /**
   * Calls of tools are looked for in the answer, and it ends after the first unless
   * several are wanted.
   */
  readonly tools?: WantedTools;
}

/** What is looked for in an answer that may call tools. */
export interface WantedTools {
  /** False: the answer ends after the first call. */
  readonly parallel: boolean;
  /** Names of tools that take one text. */
  readonly custom: readonly string[];
  /** `TOOL/PARAMETER` of parameters that are texts, for forms that do not mark them. */
  readonly texts: readonly string[];
  /**
   * One function was named: as with OpenAI, the answer ends with `stop`,
   * not with `tool_calls`.
   */
  readonly named?: true;
}

interface ChatTools {
  /** The tools in OpenAI's form, for the template. */
  readonly template: readonly unknown[];
  readonly wanted: WantedTools;
  /** Present: the answer must consist of calls. */
  readonly grammar?: Grammar;
}

const TOOL_FIELDS = {
  tools: z.unknown().optional(),
  tool_choice: z.unknown().optional(),
  parallel_tool_calls: defaulted(FLAG, true),
  functions: unserved('the older form of `tools`'),
};

/** The tools that a chat may call; undefined: none. */
function toolsOf(
  body: z.output<z.ZodObject<typeof TOOL_FIELDS>>,
  info: TextBackendInfo,
): ChatTools | undefined {
  const parallel = body.parallel_tool_calls;
  // What is ignored here was reported by the gateway.
  const { tools: served, paths, choice: asked } = readTools(body, 'chat', new IgnoredFields());
  if (served.length === 0) return undefined;
  const { usable, choice } = usableTools(callableTools(served, paths), asked);
  if (usable.length === 0 || choice === 'none') return undefined;
  const custom = usable.flatMap(({ name, tool }) => (tool.type === 'custom' ? name : []));
  const texts = usable.flatMap(textParameters);
  const template = usable.map(functionInChat);
  const wanted = { parallel, custom, texts };
  if (choice === 'auto') return { template, wanted };
  if (!info.grammar)
    throw unsupportedField('tool_choice', 'this model decides by itself; auto and none are known');
  const isNamed = choice !== 'required';
  return {
    template,
    wanted: isNamed ? { ...wanted, parallel: false, named: true } : wanted,
    grammar: {
      type: 'tool_calls',
      tools: (isNamed ? [choice] : usable).map(inGrammar),
      several: !isNamed && parallel,
      form: info.toolForm,
    },
  };
}

function textParameters({ name, parameters }: CallableTool): readonly string[] {
  const properties = parameters?.properties;
  if (!isObject(properties)) return [];
  return Object.entries(properties).flatMap(([key, schema]) =>
    isObject(schema) && schema.type === 'string' ? `${name}/${key}` : [],
  );
}

function inGrammar({ name, parameters, path }: CallableTool): GrammarTool {
  return {
    name,
    path: `${path}.function.parameters`,
    parameters: parameters ?? undefined,
  };
}

const MOST_CHOICES = 128;
const MOST_VARIABLES = 32;
const TOKENS = wholeNumberFrom(1, 2_147_483_647);
/** OpenAI's default for completions. */
const COMPLETION_TOKENS = 16;

const SHARED = {
  n: defaulted(wholeNumberFrom(1, MOST_CHOICES), 1),
  stream_options: optional(
    z.object({ include_usage: defaulted(FLAG, false) }, 'must be an object'),
  ),
  return_token_ids: defaulted(FLAG, false),
  clamp_max_tokens: defaulted(FLAG, false),
  continue_token_ids: defaulted(z.custom<readonly number[]>(), []),
  ...SAMPLING_FIELDS,
};

const isTextOnly = (value: unknown): boolean =>
  !Array.isArray(value) || value.every(modality => modality === 'text');

/** Variables of a chat template: a few plain values. */
const VARIABLES = z.custom<Fields>(
  value =>
    isObject(value) &&
    Object.keys(value).length <= MOST_VARIABLES &&
    Object.values(value).every(one => typeof one !== 'object' || one === null),
  `must be an object of at most ${MOST_VARIABLES} texts, numbers and truth values`,
);

const CHAT = z.object(
  {
    ...SHARED,
    max_completion_tokens: optional(TOKENS),
    max_tokens: optional(TOKENS),
    // OpenAI's bound of alternatives; of completions it is 5.
    top_logprobs: optional(wholeNumberFrom(0, 20)),
    logprobs: defaulted(FLAG, false),
    modalities: z
      .unknown()
      .optional()
      .refine(isTextOnly, { params: { why: 'this model answers in text only' } }),
    audio: unserved('this model answers in text only'),
    web_search_options: unserved('this model does not search'),
    chat_template_kwargs: optional(VARIABLES),
    reasoning_effort: optional(ANY_TEXT),
    ...TOOL_FIELDS,
    messages: CHAT_MESSAGES,
  },
  'must be an object',
);

const COMPLETION = z.object(
  {
    ...SHARED,
    max_tokens: defaulted(TOKENS, COMPLETION_TOKENS),
    logprobs: optional(wholeNumberFrom(0, 5)),
    suffix: unserved('this model only continues texts'),
    echo: defaulted(FLAG, false),
    best_of: optional(wholeNumberFrom(1, MOST_CHOICES)),
    prompt: z.custom<PromptField>(isTextOrTokens, TEXT_OR_TOKENS),
  },
  'must be an object',
);

type PromptField = string | readonly number[] | readonly (string | readonly number[])[];
/**
 * @throws DomainError for the first field that cannot be honoured; unknown
 *   fields are ignored.
 */
export function parseGenerationParams(
  { form, body: json }: Pick<TokenItem, 'form' | 'body'>,
  info: TextBackendInfo,
): GenerationFields {
  const given = parsed(json) as Fields;
  const own = Object.entries(info.sampling ?? {}).filter(([name]) => given[name] == null);
  const sent = { ...given, ...Object.fromEntries(own) };
  const { body, logprobs, grammar, ...rest } =
    form === 'chat' ? chatFields(sent, info) : completionFields(sent);
  const begun = begunOf(body.continue_token_ids, info.contextTokens);
  const sampling = samplingOf(body, sent, info);
  if (grammar && sampling.grammar?.type === 'gbnf')
    throw wrongField('grammar', sent.grammar, 'cannot be combined with `tool_choice`');
  return {
    form,
    n: body.n,
    stop: body.stop,
    includeUsage: body.stream_options?.include_usage ?? false,
    tokenIds: body.return_token_ids,
    clampsTokens: body.clamp_max_tokens,
    begun,
    seed: body.seed,
    ...rest,
    sampling: {
      ...sampling,
      grammar: grammar ?? sampling.grammar,
      logprobs,
    },
  };
}

interface FormFields extends Pick<GenerationFields, 'prompts' | 'maxTokens' | 'tools'> {
  readonly body: z.output<z.ZodObject<typeof SHARED>>;
  readonly logprobs?: number;
  /**
   * In place of that of `response_format`: calls come before the answer that it is about.
   */
  readonly grammar?: Grammar;
}

function chatFields(sent: Fields, info: TextBackendInfo): FormFields {
  const body = readObject(CHAT, sent);
  const { top_logprobs: top, logprobs } = body;
  if (top !== undefined && !logprobs)
    throw wrongField('top_logprobs', top, 'needs `logprobs` to be true');
  const tools = toolsOf(body, info);
  const prompt: Prompt = {
    type: 'chat',
    messages: chatMessages(body.messages),
    tools: tools?.template,
    variables: templateVariables(body),
  };
  return {
    body,
    prompts: [prompt],
    maxTokens: body.max_completion_tokens ?? body.max_tokens,
    logprobs: logprobs ? (top ?? 0) : undefined,
    tools: tools?.wanted,
    grammar: tools?.grammar,
  };
}

/** What a chat template may look at besides messages and tools. */
function templateVariables({
  chat_template_kwargs: named,
  reasoning_effort: effort,
}: z.output<typeof CHAT>): Fields | undefined {
  if (named === undefined && effort === undefined) return undefined;
  return {
    ...(effort !== undefined && { reasoning_effort: effort }),
    // Templates that know no effort know this.
    ...(effort === 'none' && { enable_thinking: false }),
    ...named,
  };
}

function begunOf(tokens: unknown, most: number): readonly number[] {
  const fits = Array.isArray(tokens) && tokens.length <= most;
  if (fits && tokens.every(token => Number.isInteger(token))) return tokens as readonly number[];
  throw wrongField('continue_token_ids', tokens, `must be a list of at most ${most} tokens`);
}

function completionFields(sent: Fields): FormFields {
  const body = readObject(COMPLETION, sent);
  const { echo, best_of: bestOf, n, prompt, max_tokens: maxTokens, logprobs } = body;
  if (echo) throw unsupportedField('echo', 'prompts are not told again');
  if (bestOf !== undefined && bestOf !== n)
    throw unsupportedField('best_of', 'all choices are told, so it must be `n`');
  return {
    body,
    prompts: promptsOf(prompt),
    maxTokens,
    logprobs,
  };
}

function promptsOf(value: PromptField): readonly Prompt[] {
  const several = Array.isArray(value) && typeof value[0] !== 'number';
  const inputs = (several ? value : [value]) as readonly (string | readonly number[])[];
  return inputs.map(input =>
    typeof input === 'string' ? { type: 'text', text: input } : { type: 'tokens', tokens: input },
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

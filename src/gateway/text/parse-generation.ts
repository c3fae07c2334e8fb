import { hash } from 'node:crypto';
import { writeJson } from '@switchyard/engine-api/exact-numbers.js';
import { invalidField, missingField } from '@switchyard/engine-api/field-problems.js';
import { type Fields } from '@switchyard/engine-api/is-object.js';
import { ChatCompletionDto } from '../../contracts/openai/chat-completion.dto.js';
import { CompletionDto } from '../../contracts/openai/completion.dto.js';
import { EmbeddingDto } from '../../contracts/openai/embedding.dto.js';
import { PASSED_ON } from '../../contracts/openai/field-types.js';
import { IgnoredFields } from '../../contracts/openai/ignored-fields.js';
import { readTools } from '../../contracts/openai/read-tools.js';
import { countInputs } from '../../contracts/openai/text-or-tokens.js';
import { type DomainError } from '../../core/errors/domain-error.js';
import { type ModelSpec } from '../../platform/config/model-spec.js';
import { type GenerateTask } from '../../worker-client/worker-task.js';
import { parseDto } from '../http/dto-validation.js';
import { demandAbilities, requestParser, type Strictness } from '../models/model-abilities.js';
import { canHonour, type ModelCatalog } from '../models/model-catalog.js';

/** Characters that identify the beginning of a text. */
const IDENTIFYING_CHARACTERS = 512;
/**
 * The system's message and the first question: what all turns of one conversation share.
 */
const IDENTIFYING_MESSAGES = 2;

const textOf = (content: unknown): string => {
  if (typeof content === 'string') return content.slice(0, IDENTIFYING_CHARACTERS);
  if (!Array.isArray(content)) return '';
  const part: unknown = content.find(
    item => typeof (item as { text?: unknown } | null)?.text === 'string',
  );
  return part === undefined ? '' : (part as { text: string }).text.slice(0, IDENTIFYING_CHARACTERS);
};

/** How a conversation begins; the same for each of its turns. */
export function beginningOfChat(messages: readonly unknown[]): string {
  const beginnings: string[] = [];
  for (const message of messages.slice(0, IDENTIFYING_MESSAGES)) {
    const { role, content } = message as { readonly role: string; content?: unknown };
    beginnings.push(`${role}:${textOf(content)}`);
  }
  return beginnings.join('\n');
}

/** How the first prompt begins. */
function beginningOfPrompt(prompt: string | readonly unknown[]): string {
  if (typeof prompt === 'string') return textOf(prompt);
  const [first] = prompt;
  if (typeof first === 'string') return textOf(first);
  return ((Array.isArray(first) ? first : prompt) as readonly unknown[])
    .slice(0, IDENTIFYING_CHARACTERS)
    .join();
}

/**
 * What the pool chooses a worker by: prefixes are kept per tenant, so two tenants have
 * nothing to share.
 */
export const affinityOf = (tenant: string, beginning: string): string =>
  hash('sha256', `${tenant}\n${beginning}`, 'base64url').slice(0, 22);

/**
 * What is to be generated, in the one form that scheduler, workers and engines know
 * (D-30): the body of a chat or of a completion, byte by byte. Other dialects are
 * translated to a chat.
 */
export interface Generation {
  readonly model: ModelSpec;
  readonly task: Omit<GenerateTask, 'kind' | 'body' | 'sink'>;
  /**
   * How it begins, in short: requests that begin alike are best computed where the first
   * of them was.
   */
  readonly beginning: string;
  readonly body: Buffer;
}

interface ParsedGeneration {
  readonly dto: ChatCompletionDto | CompletionDto;
  readonly generation: Generation;
  /** Fields that only advise and that this model cannot use. */
  readonly ignored: readonly string[];
}

/** Of one request: prompts times `n`. */
const MOST_CHOICES = 2048;

/**
 * @param bytes the body as it came, if a caller sent it
 * @throws DomainError for the first thing wrong with the body.
 */
export function parseChat(
  body: Fields,
  catalog: ModelCatalog,
  compat?: Strictness,
  bytes: Buffer = Buffer.from(writeJson(body)),
): ParsedGeneration {
  const dto = parseDto(ChatCompletionDto, body);
  const { messages, tools = [] } = dto;
  const model = catalog.getOfKind(dto.model, 'llm', 'chat');
  demandMessages(messages);
  demandStreamOptions(dto);
  const unserved = new IgnoredFields(compat?.strict);
  const asked = { tools: tools.length > 0 && offersServed(body, model, unserved) };
  const ignored = [
    ...demandAbilities(model, { dto, body, asked }, catalog, compat),
    ...unserved.paths,
  ];
  if (dto.top_logprobs !== undefined && !dto.logprobs) {
    throw invalidField('top_logprobs', '`top_logprobs` needs `logprobs` to be true.');
  }
  const maxTokens = dto.max_completion_tokens ?? dto.max_tokens ?? 0;
  const task = { form: 'chat', maxTokens, n: dto.n } as const;
  const beginning = beginningOfChat(messages);
  return { dto, generation: { model, task, beginning, body: bytes }, ignored };
}

/** A server behind the gateway may know tools that nothing here knows. */
const offersServed = (body: Fields, model: ModelSpec, unserved: IgnoredFields): boolean =>
  canHonour(model, PASSED_ON) || readTools(body, 'chat', unserved).tools.length > 0;

/** The body of a completion as a generation. @throws as `parseChat` */
export function parseCompletion(
  body: Fields,
  catalog: ModelCatalog,
  compat?: Strictness,
  bytes: Buffer = Buffer.from(writeJson(body)),
): ParsedGeneration {
  const dto = parseDto(CompletionDto, body);
  const model = catalog.getOfKind(dto.model, 'llm', 'completions');
  demandStreamOptions(dto);
  const ignored = demandAbilities(model, { dto, body }, catalog, compat);
  const task = {
    form: 'completion',
    maxTokens: dto.max_tokens ?? 0,
    n: choicesOf(dto),
  } as const;
  const beginning = beginningOfPrompt(dto.prompt);
  return { dto, generation: { model, task, beginning, body: bytes }, ignored };
}

/**
 * Each prompt of a list has its own choices. All of them share one slot, so their
 * number is bounded.
 */
function choicesOf({ prompt, n }: CompletionDto): number {
  const prompts = countInputs(prompt);
  if (prompts * n <= MOST_CHOICES) return prompts * n;
  const rule = `must hold at most ${Math.floor(MOST_CHOICES / n)} prompts with \`n\` ${n}; got ${prompts}`;
  throw invalidField('prompt', `\`prompt\` ${rule}. Split it into several requests.`);
}

/** Which roles there are is the engine's to say. */
function demandMessages(messages: readonly unknown[]): void {
  if (messages.length === 0) throw missingField('messages', ': it must hold at least one message');
  for (const [index, message] of messages.entries()) {
    const param = `messages[${index}]`;
    if (typeof message !== 'object' || message === null || Array.isArray(message))
      throw invalidField(
        param,
        `\`${param}\` must be an object with a role; got ${writeJson(message).slice(0, 80)}.`,
      );
    const { role } = message as { readonly role?: unknown };
    if (typeof role !== 'string' || role === '') throw wrongRole(role, `${param}.role`);
  }
}

function wrongRole(role: unknown, param: string): DomainError {
  const rule = 'must be a text such as user';
  if (role === undefined || role === null || role === '')
    return missingField(param, `: it ${rule}`);
  return invalidField(param, `\`${param}\` ${rule}; got ${writeJson(role).slice(0, 80)}.`);
}

function demandStreamOptions({ stream, stream_options }: ParsedGeneration['dto']): void {
  if (stream_options === undefined) return;
  if (!stream) throw invalidField('stream_options', '`stream_options` is for `stream: true` only.');
  const { include_usage = false } = stream_options;
  if (typeof include_usage === 'boolean' || include_usage === null) return;
  const param = 'stream_options.include_usage';
  throw invalidField(
    param,
    `\`${param}\` must be true or false; got ${writeJson(include_usage).slice(0, 80)}.`,
  );
}

export const parseEmbedding = requestParser(EmbeddingDto, 'embedding', 'embeddings');

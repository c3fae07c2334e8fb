import { randomInt } from 'node:crypto';
import { parseBoundedJson } from '@switchyard/engine-api/bounded-json.js';
import { cancelledError, type EngineInfo } from '@switchyard/engine-api/engine.js';
import { writeJson } from '@switchyard/engine-api/exact-numbers.js';
import {
  missingField,
  readObject,
  unsupportedField,
} from '@switchyard/engine-api/field-problems.js';
import { ANY_TEXT, FLAG, OBJECT, optional } from '@switchyard/engine-api/rules.js';
import {
  BackendLost,
  type TextBackend,
  type TextSequence,
  type Prompt,
} from '@switchyard/engine-api/text-backend.port.js';
import { type GenerationActivity } from '@switchyard/worker-protocol/health.codec.js';
import { z } from 'zod';
import { DomainError } from '../../core/errors/domain-error.js';
import { callersId } from '../../core/request/request-key.js';
import {
  demandTokens,
  type GenerateItem,
  type GenerationEvent,
  type TextGenerator,
  type TokenItem,
} from '../engines/text-generator.js';
import { answerWriter } from './answer-writer.js';
import { chatMessages, CHAT_MESSAGES } from './chat-messages.js';
import { type GenerationFields, parseGenerationParams } from './generation-params.js';
import { contextExceeded, RunningAnswer } from './running-answer.js';
import { StepLoop } from './step-loop.js';

const AS_A_PROMPT = 'a text is cut as a prompt is';

const TOKENIZE = z.object(
  {
    add_special_tokens: optional(FLAG),
    add_special: optional(FLAG),
    messages: CHAT_MESSAGES,
    // vLLM names the text `prompt`, llama.cpp `content`.
    prompt: optional(ANY_TEXT),
    content: optional(ANY_TEXT),
  },
  'must be an object',
);

/**
 * The answer of `/tokenize` or `/detokenize`, for which nothing is
 * generated. @throws DomainError
 */
async function* tokenAnswer(
  { form, body }: Pick<GenerateItem, 'body'> & { readonly form: 'tokenize' | 'detokenize' },
  backend: TextBackend,
): AsyncGenerator<GenerationEvent> {
  const fields = parseBoundedJson(body.toString('utf8'));
  const answer = await (form === 'tokenize'
    ? tokenized(fields, backend)
    : detokenized(fields, backend));
  yield { type: 'chunk', json: writeJson(answer) };
  yield { type: 'done', finishReasons: [] };
}

async function tokenized(sent: unknown, backend: TextBackend): Promise<object> {
  const body = readObject(TOKENIZE, sent);
  for (const name of ['add_special_tokens', 'add_special'] as const)
    if (body[name] === false) throw unsupportedField(name, AS_A_PROMPT);
  const tokens = await backend.encode(promptOf(body));
  return { tokens, count: tokens.length, max_model_len: backend.info.contextTokens };
}

function promptOf({ messages, prompt, content }: z.output<typeof TOKENIZE>): Prompt {
  if (messages.length > 0) return { type: 'chat', messages: chatMessages(messages) };
  const text = prompt ?? content;
  if (text === undefined) throw missingField('prompt');
  return { type: 'text', text };
}

/** The text under the names of both servers, for the clients of each. */
async function detokenized(sent: unknown, backend: TextBackend): Promise<object> {
  const { tokens: given } = readObject(OBJECT, sent);
  const tokens = await backend.encode({
    type: 'tokens',
    tokens: given as readonly number[],
  });
  const text = Buffer.concat(tokens.map(token => backend.bytesOf(token))).toString('utf8');
  return { prompt: text, content: text };
}

/** More than any tokenizer needs for `<think>` and a line break. */
const OPENING_TOKENS = 12;

const CLASSES = { realtime: 0, batch: 1 } as const;

/**
 * Share of the rows that may wait here: enough to fill a row that becomes free, few
 * enough for the gateway's order (D-01).
 */
const LINE_SHARE = 1 / 4;

/**
 * Generation by continuous batching (D-21) on whatever stands behind `TextBackend`.
 * README of this folder.
 */
export class ContinuousGenerator implements TextGenerator {
  readonly kind = 'llm';
  readonly #nowMs: () => number;
  #loop: StepLoop | undefined;
  #closed: Promise<void> | undefined;

  constructor(
    private readonly options: {
      readonly backend: TextBackend;
      /** Name of the engine in reports. */
      readonly engine: string;
      /** Absent options follow from the backend. */
      readonly scheduling?: ConstructorParameters<typeof StepLoop>[1];
      /** Monotonic milliseconds. */
      readonly nowMs?: () => number;
    },
  ) {
    this.#nowMs = options.nowMs ?? (() => performance.now());
  }

  get info(): EngineInfo {
    const { backend, engine } = this.options;
    const { rows, device, revision, chat } = backend.info;
    const line = Math.max(1, Math.round(rows * LINE_SHARE));
    return {
      engine,
      device,
      revision,
      maxBatch: 1,
      streams: 0,
      languages: [],
      maxConcurrent: rows + line,
      overdraft: line,
      capabilities: [
        ...(chat ? (['chat', 'tools'] as const) : []),
        ...(['completions', 'logprobs'] as const),
      ],
    };
  }

  get activity(): GenerationActivity | undefined {
    return this.#loop?.activity;
  }

  async load(): Promise<void> {
    const { backend, scheduling } = this.options;
    await backend.load();
    this.#loop = new StepLoop(backend, scheduling, this.#nowMs);
    this.#loop.start();
  }

  close(): Promise<void> {
    return (this.#closed ??= this.#close());
  }

  async *generate(item: GenerateItem): AsyncGenerator<GenerationEvent> {
    const { form } = item;
    if (form === 'tokenize' || form === 'detokenize') {
      yield* tokenAnswer({ ...item, form }, this.options.backend);
      return;
    }
    const answer = await this.#answer(item);
    const abort = (): void => answer.cancel('caller');
    item.signal.addEventListener('abort', abort, { once: true });
    try {
      answer.start();
      yield* answer.events;
    } finally {
      item.signal.removeEventListener('abort', abort);
      answer.cancel('consumer_gone');
      // Its slot stands for what really occupies the device.
      await answer.over;
    }
  }

  async #answer(asked: GenerateItem): Promise<RunningAnswer> {
    const item = demandTokens(asked);
    const sinceMs = this.#nowMs();
    const { backend } = this.options;
    const loop = this.#loop;
    if (!loop || this.#closed) throw new DomainError('shutting_down', 'The engine is not running.');
    const wanted = parseGenerationParams(item, backend.info);
    const prompts = await this.#encoded(wanted).catch((error: unknown) => {
      // A backend that died between two steps is opened again, as one that died
      // in a step.
      if (!(error instanceof BackendLost)) throw error;
      return loop.repaired(error).then(() => this.#encoded(wanted));
    });
    if (item.signal.aborted) throw cancelledError(item.requestId);
    const { requestId, form } = item;
    return new RunningAnswer({
      requestId,
      form,
      loop,
      sinceMs,
      nowMs: this.#nowMs,
      writer: this.#writer(item, wanted),
      sequences: this.#sequences(item, wanted, prompts, sinceMs),
      window: this.info.maxConcurrent,
      choice: {
        stop: wanted.stop,
        begun: wanted.begun.map(token => ({ token, bytes: backend.bytesOf(token) })),
        tools: wanted.tools,
        thinking: this.#thinking(form, prompts[0]!, wanted.begun.length),
        toolForm: form === 'chat' ? backend.info.toolForm : undefined,
      },
    });
  }

  /** Where the answer to a chat stands: some templates open the thoughts in the prompt. */
  #thinking(form: TokenItem['form'], prompt: readonly number[], begun: number) {
    const { backend } = this.options;
    if (form !== 'chat' || !backend.info.thinks) return undefined;
    const end = prompt.slice(0, prompt.length - begun).slice(-OPENING_TOKENS);
    const text = Buffer.concat(end.map(token => backend.bytesOf(token))).toString();
    return text.trimEnd().endsWith('<think>') ? 'inside' : 'possible';
  }

  /** Each prompt as tokens, followed by the answer so far. */
  async #encoded({
    sampling,
    prompts,
    begun,
  }: GenerationFields): Promise<readonly (readonly number[])[]> {
    const { backend } = this.options;
    await backend.check({ ...sampling, seed: 0 });
    const known = await backend.encode({ type: 'tokens', tokens: begun });
    return Promise.all(prompts.map(async prompt => [...(await backend.encode(prompt)), ...known]));
  }

  #writer({ form, requestId, stream }: TokenItem, wanted: GenerationFields) {
    const id = `${form === 'chat' ? 'chatcmpl' : 'cmpl'}-${callersId(requestId)}`;
    const { model } = this.options.backend.info;
    return answerWriter(stream, {
      head: { form, id, created: Math.floor(Date.now() / 1000), model },
      logprobs: wanted.sampling.logprobs !== undefined,
      includeUsage: wanted.includeUsage,
      tokenIds: wanted.tokenIds,
      custom: wanted.tools?.custom ?? [],
    });
  }

  #sequences(
    { priority, agingShare, tenant, tenantWeight, form }: TokenItem,
    fields: GenerationFields,
    prompts: readonly (readonly number[])[],
    arrivalMs: number,
  ): TextSequence[][] {
    // With a share of 1 aged work is REALTIME, in order of arrival.
    const priorityClass = agingShare === 1 ? CLASSES.realtime : CLASSES[priority];
    const { n, sampling, seed = randomInt(2 ** 32), begun } = fields;
    const seeds = Array.from({ length: n }, (_, choice) => (seed + choice) % 2 ** 32);
    const begunTokens = begun.length;
    return prompts.map(prompt => {
      // The tokens of an answer that is continued count as its own.
      const most = this.#fitting(form, prompt.length - begunTokens, fields);
      return seeds.map(own => ({
        priorityClass,
        agingShare,
        arrivalMs,
        tenant,
        tenantWeight,
        salt: tenant,
        maxTokens: most - begunTokens,
        prompt,
        begunTokens,
        sampling: { ...sampling, seed: own },
      }));
    });
  }

  /**
   * Tokens of an answer; without a limit what is left. All prompts are looked at before
   * one is computed.
   * @throws DomainError
   */
  #fitting(
    form: TokenItem['form'],
    promptTokens: number,
    { maxTokens: most, clampsTokens }: GenerationFields,
  ): number {
    const { info, memory } = this.options.backend;
    const limit = Math.min(info.contextTokens, memory.capacity + 1);
    const left = Math.max(1, limit - promptTokens);
    const wanted = most !== undefined && clampsTokens ? Math.min(most, left) : most;
    const tokens = promptTokens + (wanted ?? 1);
    if (tokens > limit) throw contextExceeded(form, promptTokens, { tokens, limit });
    return wanted ?? limit - promptTokens;
  }

  async #close(): Promise<void> {
    await this.#loop?.stop();
    await this.options.backend.close();
  }
}

import { parseBoundedJson } from '@switchyard/engine-api/bounded-json.js';
import { cancelledError } from '@switchyard/engine-api/engine.js';
import { writeJson } from '@switchyard/engine-api/exact-numbers.js';
import { pause } from '@switchyard/engine-api/process/pause.js';
import { type TokenUsage } from '@switchyard/engine-api/text-embedder.js';
import {
  type ChoiceDelta,
  generationBody,
  generationChunk,
  type GenerationHead,
  usageChunk,
} from '../../../contracts/formats/generation-body.js';
import { callersId } from '../../../core/request/request-key.js';
import {
  demandTokens,
  type GenerateItem,
  type GenerationEvent,
  type TextGenerator,
  type TokenItem,
} from '../text-generator.js';
import { sleepUntil, strike, SyntheticEngine } from './device.js';
import { type ScriptedFault, type SyntheticOptions } from './options.js';

/** The rest is left to `sleepUntil`, which is exact and hears no abort. */
const TIMER_SLACK_MS = 2;
/** Node fires a longer timer at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/**
 * A language model with no model: the words of the prompt again, at a scripted pace,
 * with scripted faults.
 */
export class SyntheticGenerator extends SyntheticEngine implements TextGenerator {
  readonly kind = 'llm';

  constructor(options: SyntheticOptions) {
    super(options, { maxBatch: 1, capabilities: ['chat', 'completions'] });
  }

  async *generate(item: GenerateItem): AsyncGenerator<GenerationEvent> {
    const answer = new SyntheticAnswer(demandTokens(item), this.options.tokens);
    const fault = this.options.faults.find(({ marker }) => item.body.includes(marker));
    const startMs = performance.now();
    let firstTokenMs = 0;
    for (let at = answer.begun; at < answer.length; at++) {
      await this.#step(item.signal, startMs + this.#costMs(at - answer.begun, fault));
      await this.#strike(fault, at, item.signal);
      if (at === answer.begun) firstTokenMs = performance.now() - startMs;
      if (item.stream) yield* answer.chunksOf(at);
    }
    yield* answer.last();
    yield { ...answer.done(), firstTokenMs };
  }

  #costMs(token: number, fault: ScriptedFault | undefined): number {
    const { baseMs, perItemMs, perTokenMs } = this.options;
    const slowMs = fault?.action === 'slow' && token >= fault.afterTokens ? fault.ms : 0;
    return baseMs + perItemMs + perTokenMs * token + slowMs;
  }

  async #step(signal: AbortSignal, untilMs: number): Promise<void> {
    const timerMs = Math.min(untilMs - performance.now() - TIMER_SLACK_MS, LONGEST_TIMER_MS);
    if (timerMs >= 1) await pause(timerMs, signal);
    if (signal.aborted) throw abortedBy(signal);
    await sleepUntil(untilMs);
  }

  async #strike(
    fault: ScriptedFault | undefined,
    token: number,
    signal: AbortSignal,
  ): Promise<void> {
    if (fault?.afterTokens !== token) return;
    strike(fault);
    if (fault.action === 'hang') await this.#step(signal, Infinity);
  }
}

const abortedBy = (signal: AbortSignal): Error =>
  signal.reason instanceof Error ? signal.reason : cancelledError('of the synthetic engine');

/** The body, which the gateway has checked. */
interface AskedBody {
  readonly continue_token_ids?: readonly number[] | null;
  readonly return_token_ids?: unknown;
  readonly messages?: readonly { readonly content?: unknown }[];
  readonly prompt?: unknown;
  readonly stream_options?: { readonly include_usage?: unknown } | null;
}

/** What one request is answered, token by token. */
class SyntheticAnswer {
  /** Tokens of the answer that is continued; then of the whole answer. */
  readonly begun: number;
  readonly length: number;
  readonly #words: readonly string[];
  readonly #head: GenerationHead;
  readonly #usage: TokenUsage;
  readonly #includeUsage: boolean;
  readonly #tellsTokens: boolean;
  readonly #reason: 'stop' | 'length';

  constructor(
    private readonly item: TokenItem,
    tokens: number,
  ) {
    const { form, requestId, maxTokens, n } = item;
    const body = parseBoundedJson(item.body.toString('utf8')) as AskedBody;
    this.#words = promptWords(body);
    this.begun = body.continue_token_ids?.length ?? 0;
    this.length = maxTokens === 0 ? tokens : Math.min(tokens, maxTokens);
    this.#reason = this.length < tokens ? 'length' : 'stop';
    this.#includeUsage = body.stream_options?.include_usage === true;
    this.#tellsTokens = body.return_token_ids === true;
    this.#usage = {
      promptTokens: this.#words.length,
      completionTokens: this.length * n,
      cachedTokens: 0,
    };
    const id = `${form === 'chat' ? 'chatcmpl' : 'cmpl'}-${callersId(requestId)}`;
    this.#head = {
      form,
      id,
      created: Math.floor(Date.now() / 1000),
      model: 'synthetic',
    };
  }

  *chunksOf(at: number): Generator<GenerationEvent> {
    const tokens = this.#tellsTokens && { tokenIds: [at] };
    for (let index = 0; index < this.item.n; index++) {
      const text = answerToken(this.#words, index, at);
      const delta = { index, text, first: at === this.begun, finishReason: null };
      yield this.#chunk({ ...delta, ...tokens });
    }
  }

  *last(): Generator<GenerationEvent> {
    if (!this.item.stream) return void (yield this.#event(this.#whole()));
    for (let index = 0; index < this.item.n; index++)
      yield this.#chunk({ index, text: '', first: false, finishReason: this.#reason });
    if (this.#includeUsage) yield this.#event(usageChunk(this.#head, this.#usage));
  }

  done() {
    const finishReasons = this.#perChoice(() => this.#reason);
    return { type: 'done', usage: this.#usage, finishReasons } as const;
  }

  #whole(): object {
    const choices = this.#perChoice(index => {
      let text = '';
      for (let at = this.begun; at < this.length; at++) text += answerToken(this.#words, index, at);
      return { text, finishReason: this.#reason };
    });
    return generationBody(this.#head, choices, this.#usage);
  }

  #perChoice<T>(make: (index: number) => T): T[] {
    return Array.from({ length: this.item.n }, (_, index) => make(index));
  }

  #chunk(delta: ChoiceDelta): GenerationEvent {
    return this.#event(generationChunk(this.#head, delta, this.#includeUsage));
  }

  #event(chunk: object): GenerationEvent {
    return { type: 'chunk', json: writeJson(chunk) };
  }
}

/**
 * Words of what was last said: those that the answer is made of, and that count as the
 * tokens of the prompt.
 */
function promptWords({ messages, prompt }: AskedBody): readonly string[] {
  const content = messages ? messages.at(-1)?.content : prompt;
  const isTexts = Array.isArray(content) && content.every(one => typeof one === 'string');
  const said = isTexts ? content.join(' ') : content;
  const text = typeof said === 'string' ? said : writeJson(said ?? '');
  return text.split(/\s+/).filter(word => word !== '');
}

/**
 * Token number `at` of choice `index`: the prompt's words again and again, each choice
 * beginning one word later.
 */
export function answerToken(words: readonly string[], index: number, at: number): string {
  const word = words.length === 0 ? 'synthetic' : words[(index + at) % words.length];
  return at === 0 ? `${word}` : ` ${word}`;
}

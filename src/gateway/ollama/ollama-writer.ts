import { writeJson } from '@switchyard/engine-api/exact-numbers.js';
import { type DomainError } from '../../core/errors/domain-error.js';
import { argumentsIn, type GenerationPiece } from '../text/generation-pieces.js';
import { type TextDialect } from '../text/text-generation.service.js';

const NS_PER_MS = 1_000_000;

/** What one line of the answer adds. */
interface Said {
  readonly text: string;
  readonly thinking: string;
  readonly logprobs?: readonly object[];
}

const NOTHING: Said = { text: '', thinking: '' };

/** Pieces of a generation to the lines of an answer, and to the one of a whole answer. */
export class OllamaWriter implements TextDialect {
  readonly contentType = 'application/x-ndjson';
  readonly #startMs = performance.now();
  readonly #all = { text: '', thinking: '', logprobs: new Array<object>() };
  readonly #calls = new Map<number, { name: string; arguments: string }>();
  #firstMs: number | undefined;
  #reason = 'stop';
  #counts = { prompt_eval_count: 0, eval_count: 0 };

  constructor(
    private readonly form: 'chat' | 'generate',
    /** Its name in the request. */
    private readonly model: string,
    /** False: the caller wants no thoughts, whatever the model writes. */
    private readonly showsThoughts = true,
  ) {}

  begin(): readonly object[] {
    return [];
  }

  /** Lines for a piece of the answer. Calls of tools are sent complete, at the end. */
  take(piece: GenerationPiece): readonly object[] {
    this.#firstMs ??= performance.now();
    switch (piece.type) {
      case 'text':
      case 'refusal':
        return this.#text(piece.text, 'logprobs' in piece ? piece.logprobs : undefined);
      case 'reasoning':
        return this.#thought(piece.text);
      case 'tool_call':
        return this.#call(piece);
      case 'finish':
        this.#reason = piece.reason === 'length' ? 'length' : 'stop';
        return [];
      case 'usage': {
        const { input_tokens, output_tokens } = piece.usage;
        this.#counts = { prompt_eval_count: input_tokens, eval_count: output_tokens };
        return [];
      }
    }
  }

  #thought(thinking: string): readonly object[] {
    if (!this.showsThoughts) return [];
    this.#all.thinking += thinking;
    return [this.#line({ text: '', thinking })];
  }

  #text(text: string, logprobs: readonly object[] = []): readonly object[] {
    this.#all.text += text;
    this.#all.logprobs.push(...logprobs);
    return text === '' ? [] : [this.#line({ text, thinking: '', logprobs })];
  }

  #call(piece: Extract<GenerationPiece, { type: 'tool_call' }>): readonly object[] {
    const call = this.#calls.get(piece.index) ?? { name: '', arguments: '' };
    call.name ||= piece.name ?? '';
    call.arguments += piece.arguments;
    this.#calls.set(piece.index, call);
    return [];
  }

  end(): readonly object[] {
    const calls = this.#calls.size > 0 ? [this.#line(NOTHING, this.#called())] : [];
    return [...calls, { ...this.#line(NOTHING), ...this.#ending() }];
  }

  fail({ message }: DomainError): readonly object[] {
    return [{ error: message }];
  }

  frame(line: object): string {
    return `${writeJson(line)}\n`;
  }

  whole(): object {
    return { ...this.#line(this.#all, this.#called()), ...this.#ending() };
  }

  /** The answer to a request without prompt or messages, which only loads the model. */
  get loaded(): object {
    return { ...this.#line(NOTHING), done: true, done_reason: 'load' };
  }

  #line({ text, thinking, logprobs = [] }: Said, calls: readonly object[] = []): object {
    const head = {
      model: this.model,
      created_at: new Date().toISOString(),
      ...(logprobs.length > 0 && { logprobs }),
    };
    const thought = thinking === '' ? {} : { thinking };
    if (this.form === 'generate') return { ...head, response: text, ...thought, done: false };
    const message = {
      role: 'assistant',
      content: text,
      ...thought,
      ...(calls.length > 0 && { tool_calls: calls }),
    };
    return { ...head, message, done: false };
  }

  #called(): readonly object[] {
    return [...this.#calls.values()].map(({ name, arguments: json }, index) => ({
      function: { index, name, arguments: argumentsIn(json) },
    }));
  }

  /** Until the first token it waits and reads the prompt: both are told as the latter. */
  #ending(): object {
    const { prompt_eval_count, eval_count } = this.#counts;
    const endMs = performance.now();
    const firstMs = this.#firstMs ?? endMs;
    const ns = (ms: number) => Math.round(ms * NS_PER_MS);
    return {
      done: true,
      done_reason: this.#reason,
      total_duration: ns(endMs - this.#startMs),
      load_duration: 0,
      prompt_eval_count,
      prompt_eval_duration: ns(firstMs - this.#startMs),
      eval_count,
      eval_duration: ns(endMs - firstMs),
    };
  }
}

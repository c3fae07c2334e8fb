import { type Fields } from '@switchyard/engine-api/is-object.js';
import { sseEvent } from '../../contracts/formats/server-sent-event.js';
import { messageError } from '../../contracts/messages/message-error.js';
import { type RequestView } from '../../core/dispatch/request-view.js';
import { type DomainError } from '../../core/errors/domain-error.js';
import { type WaitForecast } from '../../core/forecast/forecast-view.js';
import { argumentsIn, type GenerationPiece } from '../text/generation-pieces.js';
import { inWordsOf } from '../text/param-names.js';
import { type TextDialect } from '../text/text-generation.service.js';
import { PARAMS_OF_MESSAGE } from './parse-message.js';

type MessageEvent = { readonly type: string } & Fields;

const STOP_REASONS: Readonly<Record<string, string>> = {
  stop: 'end_turn',
  length: 'max_tokens',
  tool_calls: 'tool_use',
  content_filter: 'refusal',
};

const NO_USAGE = {
  input_tokens: 0,
  output_tokens: 0,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
};

/** What a delta of a block is called, and the field of its text in it and in the block. */
const DELTAS = {
  text: ['text_delta', 'text', 'text'],
  thinking: ['thinking_delta', 'thinking', 'thinking'],
  tool_use: ['input_json_delta', 'partial_json', 'input'],
} as const;

type AnswerBlock = Fields & { readonly type: keyof typeof DELTAS };

/** Nothing here signs thoughts; clients wait for the field. */
const THINKING = { type: 'thinking', thinking: '', signature: '' } as const;

/** Keeps a connection open while nothing is said; clients skip it. */
const PING: MessageEvent = { type: 'ping' };

/** Pieces of a generation to the events of a message, and to the message itself. */
export class MessageWriter implements TextDialect<MessageEvent> {
  readonly frame = frameOf;
  /** `text`: as far as it came; of a tool, the JSON of its input. `call`: counted from 0. */
  readonly #blocks: {
    readonly block: AnswerBlock;
    readonly call: number | undefined;
    text: string;
  }[] = [];
  #isOpen = false;
  #stopReason: string | null = null;
  #stopSequence: string | null = null;
  #usage = NO_USAGE;

  constructor(
    private readonly requestId: string,
    private readonly model: string,
    /** False: the caller wants no thoughts, whatever the model writes. */
    private readonly showsThoughts = true,
  ) {}

  begin(): readonly MessageEvent[] {
    return [{ type: 'message_start', message: this.whole() }, PING];
  }

  take(piece: GenerationPiece): readonly MessageEvent[] {
    switch (piece.type) {
      case 'reasoning':
        return this.showsThoughts ? this.#say(THINKING, piece.text) : [];
      case 'text':
      case 'refusal':
        return this.#say({ type: 'text', text: '' }, piece.text);
      case 'tool_call': {
        const { index: call, callId, name = '' } = piece;
        const id = callId ?? `msg_${this.requestId}_${call}`;
        const block = { type: 'tool_use', id, name, input: {} } as const;
        return this.#say(block, piece.arguments, call);
      }
      case 'finish':
        this.#finish(piece.reason, piece.stopSequence);
        return [];
      case 'usage': {
        const { input_tokens: input, output_tokens } = piece.usage;
        const { cached_tokens: cached } = piece.usage.input_tokens_details;
        this.#usage = {
          ...NO_USAGE,
          input_tokens: input - cached,
          cache_read_input_tokens: cached,
          output_tokens,
        };
        return [];
      }
    }
  }

  end(): readonly MessageEvent[] {
    const { stop_reason, stop_sequence, usage } = this.whole();
    return [
      ...this.#close(),
      { type: 'message_delta', delta: { stop_reason, stop_sequence }, usage },
      { type: 'message_stop' },
    ];
  }

  fail(why: DomainError): readonly MessageEvent[] {
    const error = inWordsOf(PARAMS_OF_MESSAGE, why) as DomainError;
    return [messageError(error, this.requestId)];
  }

  /** The answer of `POST /v1/messages`. */
  whole() {
    return {
      id: `msg_${this.requestId}`,
      type: 'message',
      role: 'assistant',
      model: this.model,
      content: this.#blocks.map(({ block, text }) => written(block, text)),
      stop_reason: this.#stopReason,
      stop_sequence: this.#stopSequence,
      usage: this.#usage,
    };
  }

  /** Into the block that is open, if it is of this kind, or of this call; else a new one. */
  #say(block: AnswerBlock, text: string, call?: number): readonly MessageEvent[] {
    const begun = this.#continues(block, call) ? [] : this.#open(block, call);
    if (text === '') return begun;
    this.#blocks.at(-1)!.text += text;
    const index = this.#blocks.length - 1;
    const [type, field] = DELTAS[block.type];
    const delta = { type, [field]: text };
    return [...begun, { type: 'content_block_delta', index, delta }];
  }

  #continues({ type }: AnswerBlock, call: number | undefined): boolean {
    const last = this.#blocks.at(-1);
    return this.#isOpen && last?.block.type === type && last.call === call;
  }

  #open(block: AnswerBlock, call: number | undefined): readonly MessageEvent[] {
    const closed = this.#close();
    this.#isOpen = true;
    const index = this.#blocks.push({ block, text: '', call }) - 1;
    return [...closed, { type: 'content_block_start', index, content_block: block }];
  }

  #finish(reason: string, stopSequence: string | undefined): void {
    // A chat that was told which function to call ends with `stop`, as OpenAI's.
    const isCall = reason === 'stop' && this.#blocks.some(({ call }) => call !== undefined);
    const usual = isCall ? 'tool_use' : (STOP_REASONS[reason] ?? 'end_turn');
    this.#stopReason = stopSequence === undefined ? usual : 'stop_sequence';
    this.#stopSequence = stopSequence ?? null;
  }

  #close(): readonly MessageEvent[] {
    if (!this.#isOpen) return [];
    this.#isOpen = false;
    const index = this.#blocks.length - 1;
    const stop = { type: 'content_block_stop', index };
    if (this.#blocks[index]?.block.type !== 'thinking') return [stop];
    const delta = { type: 'signature_delta', signature: THINKING.signature };
    return [{ type: 'content_block_delta', index, delta }, stop];
  }
}

const written = (block: AnswerBlock, text: string): AnswerBlock => ({
  ...block,
  [DELTAS[block.type][2]]: block.type === 'tool_use' ? argumentsIn(text) : text,
});

const frameOf = (event: MessageEvent): string => sseEvent(event.type, event);

/** What a caller is told while its request waits, beside an event that clients skip. */
export function waitFrame(
  view: RequestView | undefined,
  forecast: WaitForecast | undefined,
): string {
  const { state = 'queued', position } = view ?? {};
  const place = position === undefined ? '' : `, place ${position}`;
  const startMs = state === 'queued' ? forecast?.startInMs.p50 : undefined;
  const start = startMs === undefined ? '' : `, starts in about ${(startMs / 1000).toFixed(1)} s`;
  return `: ${state}${place}${start}\n${frameOf(PING)}`;
}

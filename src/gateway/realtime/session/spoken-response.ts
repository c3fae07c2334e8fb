import {
  assistantItem,
  type ServerEvent,
} from '../../../contracts/realtime/server-event.js';
import { DomainError } from '../../../core/errors/domain-error.js';
import { errorDefinition } from '../../../contracts/errors/error-registry.js';
import { type Speech } from './speech-synthesis.js';
import { newItemId } from './transcript-items.js';

export interface SpokenResponseOptions {
  readonly id: string;
  readonly text: string;
  readonly voice: string;
  readonly metadata: Readonly<Record<string, unknown>> | null;
  readonly speech: Speech;
  readonly send: (event: ServerEvent) => void;
  /** Gives the item its place in the conversation; returns its predecessor. */
  follow(itemId: string): string | null;
  /** Resolves when the client has room for more. */
  room(): Promise<void>;
}

type Ending =
  | { readonly status: 'completed' }
  | {
      readonly status: 'cancelled';
      readonly reason: 'client_cancelled' | 'turn_detected';
    }
  | { readonly status: 'failed'; readonly error: DomainError };

/**
 * One `response.create` being spoken: OpenAI's sequence of events around the audio
 * of one synthesis.
 */
export class SpokenResponse {
  /** Resolves after `response.done`. Never rejects. */
  readonly ended: Promise<void>;
  readonly #itemId = newItemId();
  readonly #previousItemId: string | null;
  #done = false;
  #resolve: () => void = () => undefined;

  constructor(private readonly options: SpokenResponseOptions) {
    this.ended = new Promise(resolve => (this.#resolve = resolve));
    this.#previousItemId = options.follow(this.#itemId);
    // A cancelled synthesis destroys its stream, which nothing reads then.
    options.speech.audio.on('error', () => undefined);
    this.#begin();
    void this.#speak();
  }

  get id(): string {
    return this.options.id;
  }

  /** No more audio is sent from now on; the synthesis stops. */
  cancel(reason: 'client_cancelled' | 'turn_detected'): void {
    if (this.#done) return;
    this.options.speech.cancel();
    this.#end({ status: 'cancelled', reason });
  }

  #begin(): void {
    const { send, text } = this.options;
    const item = assistantItem(this.#itemId, 'in_progress');
    send({ type: 'response.created', response: this.#view('in_progress', null) });
    send({ type: 'response.output_item.added', ...this.#about(), item });
    send({
      type: 'conversation.item.added',
      previous_item_id: this.#previousItemId,
      item,
    });
    const part = { type: 'audio', transcript: '' };
    send({ type: 'response.content_part.added', ...this.#part(), part });
    send({
      type: 'response.output_audio_transcript.delta',
      ...this.#part(),
      delta: text,
    });
  }

  async #speak(): Promise<void> {
    try {
      await this.#pump();
      const settlement = await this.options.speech.settled;
      this.#end(
        settlement.status === 'completed'
          ? settlement
          : { status: 'failed', error: settlement.error },
      );
    } catch (error) {
      const known =
        error instanceof DomainError
          ? error
          : new DomainError(
              'engine_failed',
              'The speech synthesis stopped before its end.',
            );
      this.#end({ status: 'failed', error: known });
    }
  }

  async #pump(): Promise<void> {
    // Half a sample at the end of a chunk waits for its other half.
    let rest: Buffer = Buffer.alloc(0);
    for await (const chunk of this.options.speech.audio) {
      await this.options.room();
      if (this.#done) return;
      const bytes = Buffer.concat([rest, chunk as Buffer]);
      const whole = bytes.length - (bytes.length % 2);
      rest = bytes.subarray(whole);
      const delta = bytes.toString('base64', 0, whole);
      if (whole > 0)
        this.options.send({
          type: 'response.output_audio.delta',
          ...this.#part(),
          delta,
        });
    }
  }

  #end(ending: Ending): void {
    if (this.#done) return;
    this.#done = true;
    const { send, text } = this.options;
    const item = this.#finishedItem(
      ending.status === 'completed' ? 'completed' : 'incomplete',
    );
    send({ type: 'response.output_audio.done', ...this.#part() });
    send({
      type: 'response.output_audio_transcript.done',
      ...this.#part(),
      transcript: text,
    });
    send({
      type: 'response.content_part.done',
      ...this.#part(),
      part: { type: 'audio', transcript: text },
    });
    send({ type: 'response.output_item.done', ...this.#about(), item });
    send({
      type: 'conversation.item.done',
      previous_item_id: this.#previousItemId,
      item,
    });
    send({
      type: 'response.done',
      response: this.#view(ending.status, detailsOf(ending), [item]),
    });
    this.#resolve();
  }

  #finishedItem(status: string): Record<string, unknown> {
    return assistantItem(this.#itemId, status, this.options.text);
  }

  #about() {
    return { response_id: this.options.id, output_index: 0 };
  }

  #part() {
    return { ...this.#about(), item_id: this.#itemId, content_index: 0 };
  }

  #view(status: string, details: unknown, output: readonly unknown[] = []) {
    const { id, voice, metadata } = this.options;
    const audio = { output: { format: { type: 'audio/pcm', rate: 24_000 }, voice } };
    const fixed = {
      object: 'realtime.response',
      output_modalities: ['audio'],
      conversation_id: null,
      usage: null,
    };
    return { id, ...fixed, status, status_details: details, output, audio, metadata };
  }
}

function detailsOf(ending: Ending): unknown {
  switch (ending.status) {
    case 'completed':
      return null;
    case 'cancelled':
      return { type: 'cancelled', reason: ending.reason };
    case 'failed': {
      const { message, code } = ending.error;
      return {
        type: 'failed',
        error: { type: errorDefinition(ending.error).type, code, message },
      };
    }
  }
}

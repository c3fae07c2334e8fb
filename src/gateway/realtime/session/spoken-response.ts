import { errorDefinition } from '../../../contracts/errors/error-registry.js';
import { DomainError } from '../../../core/errors/domain-error.js';
import { type SpokenText } from './session-actions.js';
import { type SessionOutbox } from './session-outbox.js';
import { type SessionServices } from './session-services.js';
import { newItemId, type TranscriptItems } from './transcript-items.js';

/**
 * One `response.create` being spoken: OpenAI's sequence of events around the audio
 * of one synthesis.
 */
export class SpokenResponse {
  readonly #ended = Promise.withResolvers<void>();
  readonly #itemId = newItemId();
  readonly #previousItemId: string | null;
  #done = false;

  constructor(
    private readonly request: SpokenText,
    private readonly speech: ReturnType<SessionServices['speak']>,
    private readonly outbox: SessionOutbox,
    items: TranscriptItems,
  ) {
    this.#previousItemId = items.follow(this.#itemId);
    // A cancelled synthesis destroys its stream, which nothing reads then.
    speech.audio.on('error', () => undefined);
    this.#begin();
    void this.#speak();
  }

  get id(): string {
    return this.request.id;
  }

  /** Resolves after `response.done`. Never rejects. */
  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  /** No more audio is sent from now on; the synthesis stops. */
  cancel(reason: string): void {
    if (this.#done) return;
    this.speech.request.cancel('client');
    this.#end('cancelled', { reason });
  }

  #begin(): void {
    const item = assistantItem(this.#itemId, 'in_progress');
    this.outbox.send({
      type: 'response.created',
      response: this.#view('in_progress', null, []),
    });
    this.#sendAbout('output_item.added', { item });
    this.#sendItem('added', item);
    this.#sendPart('content_part.added', { part: { type: 'audio', transcript: '' } });
    this.#sendPart('output_audio_transcript.delta', { delta: this.request.text });
  }

  async #speak(): Promise<void> {
    try {
      await this.#pump();
      const { settlement } = await this.speech.request.settled;
      if (settlement.status !== 'completed') throw settlement.error;
      this.#end('completed');
    } catch (thrown) {
      const error =
        thrown instanceof DomainError
          ? thrown
          : new DomainError('engine_failed', 'The speech synthesis stopped before its end.');
      const { type } = errorDefinition(error);
      this.#end('failed', { error: { type, code: error.code, message: error.message } });
    }
  }

  async #pump(): Promise<void> {
    // Half a sample at the end of a chunk waits for its other half.
    let rest: Buffer = Buffer.alloc(0);
    for await (const chunk of this.speech.audio) {
      await this.outbox.room();
      if (this.#done) return;
      const bytes = Buffer.concat([rest, chunk as Buffer]);
      const whole = bytes.length - (bytes.length % 2);
      rest = bytes.subarray(whole);
      const delta = bytes.toString('base64', 0, whole);
      if (whole > 0) this.#sendPart('output_audio.delta', { delta });
    }
  }

  /** @param details why, unless it is completed */
  #end(status: 'completed' | 'cancelled' | 'failed', details?: object): void {
    if (this.#done) return;
    this.#done = true;
    const { text: transcript } = this.request;
    const state = status === 'completed' ? status : 'incomplete';
    const item = assistantItem(this.#itemId, state, transcript);
    this.#sendPart('output_audio.done', {});
    this.#sendPart('output_audio_transcript.done', { transcript });
    this.#sendPart('content_part.done', { part: { type: 'audio', transcript } });
    this.#sendAbout('output_item.done', { item });
    this.#sendItem('done', item);
    const why = details ? { type: status, ...details } : null;
    const response = this.#view(status, why, [item]);
    this.outbox.send({ type: 'response.done', response });
    this.#ended.resolve();
  }

  #sendItem(change: 'added' | 'done', item: unknown): void {
    const previous = this.#previousItemId;
    this.outbox.send({
      type: `conversation.item.${change}`,
      previous_item_id: previous,
      item,
    });
  }

  #sendPart(name: string, fields: object): void {
    this.#sendAbout(name, { item_id: this.#itemId, content_index: 0, ...fields });
  }

  #sendAbout(name: string, fields: object): void {
    const { id } = this.request;
    this.outbox.send({
      type: `response.${name}`,
      response_id: id,
      output_index: 0,
      ...fields,
    });
  }

  #view(status: string, details: unknown, output: readonly unknown[]) {
    const { id, voice, metadata } = this.request;
    return {
      id,
      object: 'realtime.response',
      output_modalities: ['audio'],
      conversation_id: null,
      usage: null,
      status,
      status_details: details,
      output,
      audio: { output: { format: { type: 'audio/pcm', rate: 24_000 }, voice } },
      metadata,
    };
  }
}
/** Speech of a response as an item of the conversation. */
const assistantItem = (id: string, status: string, transcript?: string) => ({
  id,
  object: 'realtime.item',
  type: 'message',
  status,
  role: 'assistant',
  content: transcript === undefined ? [] : [{ type: 'output_audio', transcript }],
});

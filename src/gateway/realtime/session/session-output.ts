import { type KeyTerms } from '../../../core/access/key-terms.js';
import { randomBytes } from 'node:crypto';
import { type SpeechFields } from '../../../contracts/realtime/client-event.js';
import { type ServerEvent, userItem } from '../../../contracts/realtime/server-event.js';
import { type SessionConfig } from '../../../contracts/realtime/session-config.js';
import { DomainError } from '../../../core/errors/domain-error.js';
import { type SpeechSynthesis } from './speech-synthesis.js';
import { type SessionOutbox } from './session-outbox.js';
import { SpokenResponse } from './spoken-response.js';
import { newItemId, type TranscriptItems } from './transcript-items.js';

/** Text items stored for a response that may never be requested. */
const MAX_ITEMS = 100;

export interface SessionOutputOptions {
  readonly speaker: SpeechSynthesis;
  readonly outbox: SessionOutbox;
  readonly items: TranscriptItems;
  readonly tenant: string;
  readonly terms?: KeyTerms | undefined;
  config(): SessionConfig;
}

/** Spoken responses of the session: one at a time, while recognition continues. */
export class SessionOutput {
  #response: SpokenResponse | undefined;
  #texts: string[] = [];

  constructor(private readonly options: SessionOutputOptions) {}

  /** A text that the next response speaks. @throws DomainError `queue_full` */
  add(text: string, id: string = newItemId()): void {
    if (this.#texts.length >= MAX_ITEMS)
      throw new DomainError(
        'queue_full',
        `${MAX_ITEMS} items wait to be spoken; send response.create first.`,
      );
    this.#texts.push(text);
    const item = { ...userItem(id, null), content: [{ type: 'input_text', text }] };
    const about = { previous_item_id: this.options.items.follow(id), item };
    this.#send({ type: 'conversation.item.added', ...about });
    this.#send({ type: 'conversation.item.done', ...about });
  }

  /**
   * @throws DomainError when one is being spoken, and about the text, the voice
   *   or the model.
   */
  respond(speech: SpeechFields): void {
    if (this.#response)
      throw new DomainError(
        'conversation_already_has_active_response',
        `The response ${this.#response.id} is still being spoken.`,
      );
    const text = speech.text ?? this.#texts.join('\n');
    if (text === '')
      throw new DomainError(
        'missing_required_parameter',
        '`response.input` is required: the text to speak.',
        {
          param: 'response.input',
        },
      );
    this.#speak(text, speech);
    if (speech.text === undefined) this.#texts = [];
  }

  /** @throws DomainError `response_cancel_not_active` */
  cancel(responseId: string | undefined): void {
    const response = this.#response;
    if (!response || (responseId !== undefined && responseId !== response.id))
      throw new DomainError(
        'response_cancel_not_active',
        'No such response is being spoken.',
        {
          param: 'response_id',
        },
      );
    response.cancel('client_cancelled');
  }

  /** The client has started to speak. */
  interrupt(): void {
    if (this.options.config().turnDetection?.interruptResponse)
      this.#response?.cancel('turn_detected');
  }

  /** The session ends. */
  stop(): void {
    this.#response?.cancel('client_cancelled');
  }

  #speak(text: string, { voice: wanted, metadata }: SpeechFields): void {
    const { speaker, outbox, items, tenant, terms } = this.options;
    const config = this.options.config();
    const id = `resp_${randomBytes(12).toString('hex')}`;
    const voice = wanted ?? config.voice;
    const speech = speaker.speak({ id, text, voice, speed: config.speed, tenant, terms });
    const response = new SpokenResponse({
      ...{ id, text, voice, metadata, speech },
      send: event => outbox.send(event),
      follow: itemId => items.follow(itemId),
      room: () => outbox.room(),
    });
    this.#response = response;
    void response.ended.then(() => (this.#response = undefined));
  }

  #send(event: ServerEvent): void {
    this.options.outbox.send(event);
  }
}

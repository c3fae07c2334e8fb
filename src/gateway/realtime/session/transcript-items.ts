import { randomBytes } from 'node:crypto';
import { type StreamEvent } from '../../../contracts/grpc/call.codec.js';
import { errorEvent, userItem } from '../../../contracts/realtime/realtime-event.js';
import { type DomainError } from '../../../core/errors/domain-error.js';
import { type SessionState } from '../journal/session-state.js';
import { type SessionActions } from './session-actions.js';
import { StableText } from './stable-text.js';

const PREFIX = 'conversation.item.input_audio_transcription';

/** One utterance of the session, as an item of the conversation. */
interface TranscriptItem {
  readonly id: string;
  readonly text: StableText;
  started: boolean;
  stopped: boolean;
  committed: boolean;
  /** Cleared by the client: no further event is about it. */
  discarded: boolean;
}

/**
 * Utterances (numbered from 0 through the whole session) → items and the events about
 * them, in OpenAI's order.
 */
export class TranscriptItems {
  /** Hypotheses in a row that must agree on a word. */
  #agreement = 3;
  readonly #open = new Map<number, TranscriptItem>();
  /** The utterance that the next commit ends. */
  #next = 0;
  #finals = 0;
  #segments = 0;
  #lastItemId: string | null = null;

  /**
   * @param written final text as spoken → as written; deltas stay as spoken, because they
   *   are never revised
   */
  constructor(
    private readonly send: SessionActions['send'],
    private readonly written: (spoken: string) => string = spoken => spoken,
    state?: SessionState['items'],
  ) {
    if (!state) return;
    this.#next = state.next;
    this.#finals = state.finals;
    this.#segments = state.segments;
    this.#lastItemId = state.lastItemId;
    for (const { utterance, said, ...item } of state.open)
      this.#open.set(utterance, { ...item, text: new StableText(said) });
  }

  /** @param agreement from now on */
  agreeing(agreement: number): void {
    this.#agreement = agreement;
  }

  /** What another gateway needs to continue. */
  get state(): SessionState['items'] {
    const open = [...this.#open].map(([utterance, { text, ...item }]) => ({
      utterance,
      ...item,
      said: text.sent,
    }));
    return {
      next: this.#next,
      finals: this.#finals,
      segments: this.#segments,
      lastItemId: this.#lastItemId,
      open,
    };
  }

  /** An utterance is being spoken, or has no final yet. */
  get pending(): boolean {
    return [...this.#open.values()].some(({ discarded }) => !discarded);
  }

  /** Voice activity has begun and not ended. */
  get speaking(): boolean {
    return [...this.#open.values()].some(({ started, stopped }) => started && !stopped);
  }

  /** The client committed: the item is announced at once. */
  commit(): void {
    const utterance = this.#next;
    this.#commit(utterance, this.#item(utterance));
  }

  /** The client cleared: the current utterance is discarded. */
  clear(): void {
    this.#item(this.#next++).discarded = true;
  }

  /**
   * Appends an item that is no utterance, such as a response. @returns its predecessor
   */
  follow(itemId: string): string | null {
    const previous = this.#lastItemId;
    this.#lastItemId = itemId;
    return previous;
  }

  receive(event: StreamEvent): void {
    const item = this.#item(event.utterance);
    switch (event.type) {
      case 'speech_started':
        return this.#started(item, event.at);
      case 'speech_stopped':
        return this.#stopped(item, event);
      case 'partial':
        if (!item.discarded) this.#delta(item, item.text.partial(event.text, this.#agreement));
        return;
      case 'final':
        return this.#final(item, event);
    }
  }

  /** Utterances completed so far. */
  get finals(): number {
    return this.#finals;
  }

  /** The open utterances get no final. */
  fail(error: DomainError): void {
    for (const [utterance, item] of this.#open) {
      this.#finals = Math.max(this.#finals, utterance + 1);
      if (item.discarded) continue;
      this.#commit(utterance, item);
      this.send({
        type: `${PREFIX}.failed`,
        item_id: item.id,
        content_index: 0,
        error: errorEvent(error).error,
      });
    }
    this.#next = Math.max(this.#next, this.#finals);
    this.#open.clear();
  }

  #started(item: TranscriptItem, at: number): void {
    // A replacement worker detects the same speech start again.
    if (item.started || item.discarded) return;
    item.started = true;
    this.send({
      type: 'input_audio_buffer.speech_started',
      audio_start_ms: milliseconds(at),
      item_id: item.id,
    });
  }

  #stopped(item: TranscriptItem, { utterance, at }: { utterance: number; at: number }): void {
    if (item.stopped || item.discarded) return;
    item.stopped = true;
    this.send({
      type: 'input_audio_buffer.speech_stopped',
      audio_end_ms: milliseconds(at),
      item_id: item.id,
    });
    this.#commit(utterance, item);
  }

  #final(item: TranscriptItem, event: Extract<StreamEvent, { type: 'final' }>): void {
    const { utterance, text, start, end } = event;
    this.#open.delete(utterance);
    this.#finals = utterance + 1;
    // Silence that was not committed, such as the end of a stream, has no events.
    const unannounced = !item.started && !item.committed && text === '';
    const silent = item.discarded || unannounced;
    if (!silent) this.#commit(utterance, item);
    this.#next = Math.max(this.#next, this.#finals);
    if (silent) return;
    const about = { item_id: item.id, content_index: 0 };
    const usage = { type: 'duration', seconds: milliseconds(end - start) / 1000 };
    const transcript = this.written(text);
    this.#delta(item, item.text.final(text));
    if (text !== '') {
      this.send({
        type: `${PREFIX}.segment`,
        ...about,
        id: `seg_${this.#segments}`,
        text: transcript,
        speaker: '',
        start,
        end,
        number: this.#segments,
      });
      this.#segments += 1;
    }
    this.send({ type: `${PREFIX}.completed`, ...about, transcript, usage });
  }

  #delta({ id }: TranscriptItem, delta: string): void {
    if (delta !== '') this.send({ type: `${PREFIX}.delta`, item_id: id, content_index: 0, delta });
  }

  #commit(utterance: number, item: TranscriptItem): void {
    if (item.committed) return;
    item.committed = true;
    this.#next = Math.max(this.#next, utterance + 1);
    const previous = this.follow(item.id);
    const about = { previous_item_id: previous, item: userItem(item.id, null) };
    this.send({
      type: 'input_audio_buffer.committed',
      previous_item_id: previous,
      item_id: item.id,
    });
    this.send({ type: 'conversation.item.added', ...about });
    this.send({ type: 'conversation.item.done', ...about });
  }

  #item(utterance: number): TranscriptItem {
    const known = this.#open.get(utterance);
    if (known) return known;
    const item = {
      id: newItemId(),
      text: new StableText(),
      started: false,
      stopped: false,
      committed: false,
      discarded: false,
    };
    this.#open.set(utterance, item);
    return item;
  }
}

export const newItemId = (): string => `item_${randomBytes(12).toString('hex')}`;

const milliseconds = (seconds: number): number => Math.max(0, Math.round(seconds * 1000));

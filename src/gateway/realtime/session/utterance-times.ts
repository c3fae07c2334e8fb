import { type StreamEvent } from '@switchyard/worker-protocol/call.codec.js';
import { type SessionActions } from './session-actions.js';

/** Arrival times stored: five minutes at ten a second. */
const MARKS = 3000;
const MARK_EVERY_S = 0.1;

/**
 * When the audio behind an event arrived here, and so how long its text took. Times in
 * milliseconds of one clock.
 */
export class UtteranceTimes {
  readonly #marks: { readonly s: number; readonly ms: number }[] = [];
  /** Second at which the current utterance began. */
  #fromS = 0;
  #endedMs: number | undefined;
  #spoken = false;

  constructor(private readonly count: SessionActions['count']) {}

  /** Audio up to second `endS` of the session has arrived. */
  arrived(endS: number, nowMs: number): void {
    const last = this.#marks.at(-1);
    if (last && endS - last.s < MARK_EVERY_S) return;
    this.#marks.push({ s: endS, ms: nowMs });
    if (this.#marks.length > MARKS) this.#marks.shift();
  }

  committed(nowMs: number): void {
    this.#endedMs ??= nowMs;
  }

  receive(event: StreamEvent, nowMs: number): void {
    switch (event.type) {
      case 'speech_started':
        this.#fromS = event.at;
        return;
      case 'speech_stopped':
        this.#endedMs = this.#arrivalOf(event.at, nowMs);
        return;
      case 'partial':
        return this.#firstText(nowMs);
      case 'final':
        return this.#final(event.end, event.text, nowMs);
    }
  }

  #firstText(nowMs: number): void {
    if (this.#spoken) return;
    this.#spoken = true;
    this.count('first_text', nowMs - this.#arrivalOf(this.#fromS, nowMs));
  }

  #final(endS: number, text: string, nowMs: number): void {
    if (text !== '') this.#firstText(nowMs);
    if (this.#endedMs !== undefined) this.count('final_delay', nowMs - this.#endedMs);
    this.#fromS = endS;
    this.#spoken = false;
    this.#endedMs = undefined;
  }

  /** The first mark at or after `seconds`. */
  #arrivalOf(seconds: number, nowMs: number): number {
    return this.#marks.find(({ s }) => s >= seconds)?.ms ?? nowMs;
  }
}

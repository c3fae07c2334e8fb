import { type RecognizerEvent } from '../engine.js';
import { plainText } from './decoded-word.js';
import { type Decoder } from './decoder.js';
import { decodeFile } from './file-decoding.js';
import { joinWords } from './transcript-segments.js';

const RATE = 16_000;
/** Partials are looked for every 100 ms of audio, whatever size the frames have in which it arrives. */
const STEP = RATE / 10;
/** Less audio than this gives guesses that are taken back at once. */
const FIRST_PARTIAL = 0.6 * RATE;
/** The mean of this much speech leaves 4 of 22 words wrong in a live pass; a cold start left 19 (ENGINES "Streaming trap"). */
const PRIMING = 0.8 * RATE;
/** Callers cut utterances by voice activity at 10-15 s; an utterance nobody ends is ended here, so memory stays bounded. */
const LONGEST_UTTERANCE = 30 * RATE;

export interface LiveSessionParts {
  readonly full: Decoder;
  /** Absent: no partials are wanted. */
  readonly live: Decoder | undefined;
  readonly isCancelled: () => boolean;
}

/** One live stream: partial texts while an utterance is spoken, a full decode of it when it ends. */
export class LiveSession {
  readonly #audio = new Int16Array(LONGEST_UTTERANCE);
  #length = 0;
  /** Samples of this utterance that the live pass has had; 0: it has not begun. */
  #liveFed = 0;
  #lastPartial = '';
  #utterance = 0;
  /** Samples of the stream before this utterance. */
  #offset = 0;

  constructor(private readonly parts: LiveSessionParts) {}

  push(samples: Int16Array): RecognizerEvent[] {
    const events: RecognizerEvent[] = [];
    for (let at = 0; at < samples.length && !this.parts.isCancelled();) {
      const piece = samples.subarray(at, at + STEP - (this.#length % STEP));
      this.#audio.set(piece, this.#length);
      this.#length += piece.length;
      at += piece.length;
      if (this.#length % STEP === 0) events.push(...this.#afterStep());
    }
    return events;
  }

  /** Ends the utterance: exactly one `final`, with an empty text when nothing was said. */
  commit(): RecognizerEvent[] {
    this.#stopLivePass();
    const samples = this.#audio.subarray(0, this.#length);
    const decoded = decodeFile(this.parts.full, samples, this.parts.isCancelled) ?? [];
    const start = this.#offset / RATE;
    const words = decoded.map(word => ({ ...word, start: shift(word.start, start), end: shift(word.end, start) }));
    const utterance = this.#utterance++;
    this.#offset += this.#length;
    this.#length = 0;
    this.#lastPartial = '';
    return [{ type: 'final', utterance, text: joinWords(words), start, end: this.#offset / RATE, words }];
  }

  close(): void {
    this.#stopLivePass();
    this.#length = 0;
  }

  #afterStep(): RecognizerEvent[] {
    if (this.#length === LONGEST_UTTERANCE) return this.commit();
    if (this.parts.live === undefined || this.#length < FIRST_PARTIAL) return [];
    const text = this.#liveText(this.parts.live);
    if (text === '' || text === this.#lastPartial) return [];
    this.#lastPartial = text;
    return [{ type: 'partial', utterance: this.#utterance, text }];
  }

  #liveText(live: Decoder): string {
    // The first partials are primed with what there is; once there is enough the pass starts again, properly primed.
    if (this.#liveFed === 0 || this.#length === PRIMING) {
      this.#stopLivePass();
      live.begin(live.cepstralMean(this.#audio.subarray(0, this.#length)));
    }
    live.feed(this.#audio.subarray(this.#liveFed, this.#length));
    this.#liveFed = this.#length;
    return plainText(live.hypothesis());
  }

  #stopLivePass(): void {
    if (this.#liveFed > 0) this.parts.live?.abandon();
    this.#liveFed = 0;
  }
}

function shift(seconds: number, by: number): number {
  return Math.round((seconds + by) * 1000) / 1000;
}

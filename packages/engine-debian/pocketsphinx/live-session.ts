import {
  type RecognizerEvent,
  type TranscriptWord,
} from '@switchyard/engine-api/speech-recognizer.js';
import { type Decoder } from './decoder.js';
import { plainText, spokenWords } from './protocol.js';

const RATE = 16_000;
/**
 * Partials are looked for every 100 ms of audio, whatever size the frames have in
 * which it arrives.
 */
const STEP = RATE / 10;
/** Less audio than this gives guesses that are taken back at once. */
const FIRST_PARTIAL = 0.6 * RATE;
/**
 * The pass starts again here, with the cepstral mean of all audio so far: a mean of
 * the first 0.8 s alone leaves a third more wrong words than that of the whole
 * utterance, one that is renewed like this leaves no more (README, "PocketSphinx").
 * Not earlier: decoding all again takes half as long as the audio, and the first text
 * would wait for it.
 */
const RENEWALS: readonly number[] = [1.6 * RATE, 3.2 * RATE];
/**
 * Up to here the whole utterance is decoded again when it ends, with its own mean: a word
 * or two, and soon done.
 */
const SHORT = 1.6 * RATE;
/**
 * A longer utterance is decoded in pieces of this length, so that memory stays bounded;
 * it is still one utterance.
 */
const LONGEST_PIECE = 30 * RATE;

/**
 * One live stream. Its decoder hears an utterance while it is spoken, so that at its end
 * only the second pass is left to do; the first pass gives the partial texts on its way.
 */
export class LiveSession {
  readonly #audio = new Int16Array(LONGEST_PIECE);
  /** Samples of this piece. */
  #length = 0;
  /** Samples of this piece that the decoder has had. */
  #fed = 0;
  #lastPartial = '';
  #utterance = 0;
  /** Samples of the stream before this utterance, and before this piece of it. */
  #utteranceOffset = 0;
  #offset = 0;
  /** Words of the pieces before this one. */
  #words: TranscriptWord[] = [];

  constructor(
    private readonly parts: {
      readonly decoder: Decoder;
      readonly partials: boolean;
      readonly isCancelled: () => boolean;
    },
  ) {}

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

  /**
   * Ends the utterance: exactly one `final`, with an empty text when nothing was said.
   */
  commit(): RecognizerEvent[] {
    this.#endPiece();
    const words = this.#words;
    const [start, end] = [this.#utteranceOffset / RATE, this.#offset / RATE];
    this.#words = [];
    this.#utteranceOffset = this.#offset;
    this.#lastPartial = '';
    return [
      {
        type: 'final',
        utterance: this.#utterance++,
        text: textOf(words),
        start,
        end,
        words,
      },
    ];
  }

  #endPiece(): void {
    const end = this.#offset + this.#length;
    this.#words.push(...spokenWords(this.#finish(), this.#offset / RATE, end / RATE));
    this.#offset = end;
    this.#length = 0;
    this.#fed = 0;
  }

  #afterStep(): RecognizerEvent[] {
    if (this.#length === LONGEST_PIECE) this.#endPiece();
    if (this.#length < FIRST_PARTIAL) return [];
    this.#hear(this.#fed === 0 || RENEWALS.includes(this.#length));
    if (!this.parts.partials) return [];
    const text = [textOf(this.#words), plainText(this.parts.decoder.hypothesis())]
      .filter(Boolean)
      .join(' ');
    if (text === '' || text === this.#lastPartial) return [];
    this.#lastPartial = text;
    return [{ type: 'partial', utterance: this.#utterance, text }];
  }

  /**
   * The decoder gets what it has not had yet; `anew`: all of it, with the mean of
   * all of it.
   */
  #hear(anew: boolean): void {
    const { decoder, isCancelled } = this.parts;
    if (anew) {
      decoder.abandon();
      decoder.begin(decoder.cepstralMean(this.#audio.subarray(0, this.#length)));
      this.#fed = 0;
    }
    while (this.#fed < this.#length && !isCancelled()) {
      const to = Math.min(this.#length, this.#fed + STEP);
      decoder.feed(this.#audio.subarray(this.#fed, to));
      this.#fed = to;
    }
  }

  #finish(): TranscriptWord[] {
    if (this.#length === 0) return [];
    this.#hear(this.#length < SHORT);
    return this.parts.isCancelled() ? [] : this.parts.decoder.finish();
  }
}

const textOf = (words: readonly TranscriptWord[]): string =>
  words.map(({ word }) => word).join(' ');

import { type VoiceActivityOptions } from '../speech-recognizer.js';
import { RECOGNISER_RATE } from './pcm.js';

/** Samples that are judged at once: 32 ms. */
export const FRAME_SAMPLES = 512;
/**
 * Speech this long cannot go on as one utterance: a recogniser's final pass over it would
 * take too long.
 */
export const LONGEST_UTTERANCE = 15 * RECOGNISER_RATE;

/**
 * `atS`: seconds from the start of the stream, of the speech itself. The utterance's
 * audio is the samples `audioFrom` to `audioTo` of the stream.
 */
export type VoiceEvent =
  | { readonly type: 'started'; readonly atS: number; readonly audioFrom: number }
  | { readonly type: 'stopped'; readonly atS: number; readonly audioTo: number };

/**
 * A click or a cough seldom lasts three judgements; speech that does is reported 96 ms
 * after its onset, and none of it is lost.
 */
const FRAMES_TO_BELIEVE = 3;
/**
 * Between words the probability dips: silence begins this far below the threshold, as in
 * Silero's own iterator.
 */
const HYSTERESIS = 0.15;
/**
 * From here on ever shorter pauses end the utterance, so that a talker without long
 * pauses is cut at one, not in a word.
 */
const PATIENT_UNTIL = 8 * RECOGNISER_RATE;
const IMPATIENT_FROM = 13 * RECOGNISER_RATE;
const SHORTEST_PAUSE = 2 * FRAME_SAMPLES;

/**
 * Turns one stream's speech probabilities, one per frame, into the starts and stops of
 * utterances. Synchronous and pure.
 */
export class VoiceActivityTracker {
  /** Samples judged so far. */
  position = 0;
  speaking = false;
  /** Where the run of loud frames, or of quiet ones during speech, began. */
  #turningAt: number | undefined;
  #utteranceFrom = 0;
  /** End of the last utterance: pre-roll never reaches into it. */
  #freeFrom = 0;

  /** @param lateBy samples by which the detector reports speech and silence late */
  constructor(
    private readonly options: VoiceActivityOptions,
    private readonly lateBy = 0,
  ) {}

  /** First sample that the next utterance may still include. */
  get claimableFrom(): number {
    return this.speaking
      ? this.#utteranceFrom
      : this.#paddedStart(this.#turningAt ?? this.position);
  }

  next(probability: number): VoiceEvent | undefined {
    const at = this.position;
    this.position += FRAME_SAMPLES;
    return this.speaking
      ? this.#whileSpeaking(probability, at)
      : this.#whileSilent(probability, at);
  }

  /**
   * Ends what is being said at sample `end`, believing also speech that has
   * only just begun.
   */
  finish(end: number): VoiceEvent[] {
    const events: VoiceEvent[] = [];
    if (!this.speaking && this.#turningAt !== undefined) events.push(this.#start(this.#turningAt));
    if (this.speaking) events.push(this.#stop(this.#turningAt ?? end, end));
    this.#freeFrom = end;
    return events;
  }

  /** Speech goes on, but its utterance ends at `at` and another one begins there. */
  split(at: number): VoiceEvent[] {
    this.#utteranceFrom = at;
    return [
      { type: 'stopped', atS: at / RECOGNISER_RATE, audioTo: at },
      { type: 'started', atS: at / RECOGNISER_RATE, audioFrom: at },
    ];
  }

  #whileSilent(probability: number, at: number): VoiceEvent | undefined {
    if (probability < this.options.threshold) {
      this.#turningAt = undefined;
      return undefined;
    }
    this.#turningAt ??= at - this.lateBy;
    return this.position - this.#turningAt >= FRAMES_TO_BELIEVE * FRAME_SAMPLES
      ? this.#start(this.#turningAt)
      : undefined;
  }

  #whileSpeaking(probability: number, at: number): VoiceEvent | undefined {
    if (probability >= this.options.threshold) this.#turningAt = undefined;
    if (probability >= Math.max(this.options.threshold - HYSTERESIS, 0.01)) return undefined;
    this.#turningAt ??= at - this.lateBy;
    const quiet = this.position - this.#turningAt;
    return quiet >= this.#pauseNeeded() ? this.#stop(this.#turningAt, this.position) : undefined;
  }

  #start(onset: number): VoiceEvent {
    this.speaking = true;
    this.#turningAt = undefined;
    this.#utteranceFrom = this.#paddedStart(onset);
    return {
      type: 'started',
      atS: onset / RECOGNISER_RATE,
      audioFrom: this.#utteranceFrom,
    };
  }

  #stop(silenceFrom: number, audioTo: number): VoiceEvent {
    this.speaking = false;
    this.#turningAt = undefined;
    this.#freeFrom = audioTo;
    return { type: 'stopped', atS: silenceFrom / RECOGNISER_RATE, audioTo };
  }

  #paddedStart(onset: number): number {
    return Math.max(this.#freeFrom, onset - samplesIn(this.options.prefixPaddingMs));
  }

  /** The asked-for silence until 8 s of utterance, then less and less, 64 ms at 13 s. */
  #pauseNeeded(): number {
    const asked = samplesIn(this.options.silenceDurationMs);
    const length = this.position - this.#utteranceFrom;
    const impatience = Math.min(1, (length - PATIENT_UNTIL) / (IMPATIENT_FROM - PATIENT_UNTIL));
    if (impatience <= 0) return asked;
    return Math.min(asked, Math.max(SHORTEST_PAUSE, asked * (1 - impatience)));
  }
}

function samplesIn(ms: number): number {
  return Math.round((ms * RECOGNISER_RATE) / 1000);
}

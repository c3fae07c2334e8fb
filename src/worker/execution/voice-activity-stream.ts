import { RECOGNISER_RATE } from '../audio/pcm.js';
import { SampleTail } from '../audio/sample-tail.js';
import { type VoiceActivitySession } from '../audio/voice-activity.js';
import { FRAME_SAMPLES, LONGEST_UTTERANCE, type VoiceEvent } from '../audio/voice-activity-tracker.js';
import { type RecognizerStream } from '../engines/engine.js';
import { quietestPoint } from '../audio/utterance-split.js';
import { type LiveStream, type TellEvent } from './live-stream.js';
import { RecognizerBacklog } from './recognizer-backlog.js';

/** Near the limit the recogniser is kept this far behind, so that the cut can still fall on the best pause of the last 2 s. */
const HELD_BACK = 2 * RECOGNISER_RATE;

/**
 * A recogniser that hears speech only, and whose utterances end by themselves. Order of one utterance's events: speech_started,
 * partials, speech_stopped, final. Speech is told at once; a final comes when it is decoded, perhaps after the next speech_started.
 */
export class VoiceActivityStream implements LiveStream {
  readonly #tail = new SampleTail();
  readonly #work: RecognizerBacklog;
  /** Number of the utterance being spoken, or of the next one. */
  #utterance = 0;
  /** First sample of the utterance being spoken; undefined: nobody speaks. */
  #openFrom: number | undefined;
  /** Samples up to here have been given to the recogniser, or never will be. */
  #givenTo = 0;

  constructor(
    stream: RecognizerStream,
    private readonly voice: VoiceActivitySession,
    private readonly tell: TellEvent,
  ) {
    this.#work = new RecognizerBacklog(stream, tell);
  }

  async push(samples: Int16Array): Promise<void> {
    for (let at = 0; at < samples.length; at += FRAME_SAMPLES) {
      const piece = samples.subarray(at, at + FRAME_SAMPLES);
      this.#tail.append(piece);
      for (const event of await this.voice.push(piece)) this.#heard(event);
      if (this.#openFrom !== undefined && this.voice.position - this.#openFrom >= LONGEST_UTTERANCE) this.#cut();
    }
    this.#give(this.#openFrom === undefined ? 0 : this.#safeToGive(this.#openFrom));
    this.#tail.forgetBefore(Math.max(this.#givenTo, this.voice.claimableFrom));
    await this.#work.room();
  }

  /** Nobody speaking: nothing to end, so nothing is told. */
  async commit(): Promise<void> {
    for (const event of this.voice.end()) this.#heard(event);
    await this.#work.room();
  }

  done(): Promise<void> {
    return this.#work.done();
  }

  close(): Promise<void> {
    return this.#work.close();
  }

  #heard(event: VoiceEvent): void {
    if (event.type === 'started') {
      this.#openFrom = this.#givenTo = event.audioFrom;
      this.#work.begin(this.#utterance, event.audioFrom);
      this.tell({ type: 'speech_started', utterance: this.#utterance, at: event.audioFrom / RECOGNISER_RATE });
      return;
    }
    this.#give(event.audioTo);
    this.tell({ type: 'speech_stopped', utterance: this.#utterance, at: event.audioTo / RECOGNISER_RATE });
    this.#work.commit();
    this.#utterance += 1;
    this.#openFrom = undefined;
  }

  #cut(): void {
    const held = this.#tail.slice(this.#givenTo, this.voice.position);
    for (const event of this.voice.split(this.#givenTo + quietestPoint(held, 0, held.length))) this.#heard(event);
  }

  #safeToGive(openFrom: number): number {
    const limit = openFrom + LONGEST_UTTERANCE - HELD_BACK;
    return Math.min(this.voice.position, limit);
  }

  #give(to: number): void {
    if (to <= this.#givenTo) return;
    this.#work.push(this.#tail.slice(this.#givenTo, to));
    this.#givenTo = to;
  }
}

import { RECOGNISER_RATE } from '../audio/pcm.js';
import { quietestPoint } from '../audio/utterance-split.js';
import { FRAME_SAMPLES, LONGEST_UTTERANCE, type VoiceEvent } from '../audio/voice-activity-tracker.js';
import { type VoiceActivitySession } from '../audio/voice-activity.js';
import { type RecognizerEvent, type RecognizerStream } from '../engines/speech-recognizer.js';
import { type LiveStream, type TellEvent } from './live-stream.js';

/** Audio that may wait for the recogniser before its caller is held up. */
const MOST_WAITING = 2 * RECOGNISER_RATE;

/**
 * Calls to a recogniser's stream, made one after another while voice activity is watched ahead of them. The recogniser hears
 * utterances only, so its clock stands still between them: events leave with the session's times and utterance numbers.
 */
export class RecognizerBacklog {
  #last: Promise<void> = Promise.resolve();
  #failure: Error | undefined;
  #waiting = 0;
  /** Samples the recogniser has been given in all: its own clock. */
  #given = 0;
  #utterance = 0;
  #shiftS = 0;

  constructor(
    private readonly stream: RecognizerStream,
    private readonly tell: TellEvent,
  ) {}

  /** What follows is utterance number `utterance`, from sample `from` of the session. */
  begin(utterance: number, from: number): void {
    this.#utterance = utterance;
    this.#shiftS = (from - this.#given) / RECOGNISER_RATE;
  }

  push(samples: Int16Array): void {
    this.#given += samples.length;
    this.#queue(samples.length, () => this.stream.push(samples));
  }

  commit(): void {
    this.#queue(0, () => this.stream.commit());
  }

  /** Resolves when no more than 2 s of audio wait. @throws what the recogniser threw. */
  async room(): Promise<void> {
    if (this.#waiting > MOST_WAITING) await this.#last;
    this.#throwFailure();
  }

  /** Resolves when all is recognised and told. @throws what the recogniser threw. */
  async done(): Promise<void> {
    await this.#last;
    this.#throwFailure();
  }

  close(): Promise<void> {
    this.#failure ??= new Error('The stream is closed.');
    return this.stream.close();
  }

  #queue(samples: number, call: () => Promise<readonly RecognizerEvent[]>): void {
    const [utterance, shiftS] = [this.#utterance, this.#shiftS];
    this.#waiting += samples;
    this.#last = this.#last.then(async () => {
      try {
        if (this.#failure) return;
        for (const event of await call()) this.tell(inSession(event, utterance, shiftS));
      } catch (error) {
        this.#failure ??= error instanceof Error ? error : new Error(String(error));
      } finally {
        this.#waiting -= samples;
      }
    });
  }

  #throwFailure(): void {
    if (this.#failure) throw this.#failure;
  }
}

function inSession(event: RecognizerEvent, utterance: number, shiftS: number): RecognizerEvent {
  if (event.type === 'partial') return { ...event, utterance };
  const at = (seconds: number): number => Math.round((seconds + shiftS) * 1000) / 1000;
  const words = event.words.map(word => ({ ...word, start: at(word.start), end: at(word.end) }));
  return { ...event, utterance, start: at(event.start), end: at(event.end), words };
}

/** The end of a stream of samples, addressed by position in the stream; what is no longer needed is forgotten. */
export class SampleTail {
  #samples = new Int16Array(0);
  #from = 0;
  #to = 0;

  /** Position after the last sample. */
  get end(): number {
    return this.#to;
  }

  append(samples: Int16Array): void {
    const kept = this.#to - this.#from;
    if (kept + samples.length > this.#samples.length) this.#grow(kept + samples.length);
    this.#samples.set(samples, kept);
    this.#to += samples.length;
  }

  /** A copy of what is still there between two positions. */
  slice(from: number, to: number): Int16Array {
    return this.#samples.slice(Math.max(0, from - this.#from), Math.max(0, Math.min(to, this.#to) - this.#from));
  }

  forgetBefore(position: number): void {
    const gone = Math.min(position, this.#to) - this.#from;
    if (gone <= 0) return;
    this.#samples.copyWithin(0, gone, this.#to - this.#from);
    this.#from += gone;
  }

  #grow(needed: number): void {
    const larger = new Int16Array(Math.max(needed, this.#samples.length * 2, 8192));
    larger.set(this.#samples.subarray(0, this.#to - this.#from));
    this.#samples = larger;
  }
}

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

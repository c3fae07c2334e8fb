import { RECOGNISER_RATE } from '@switchyard/engine-api/audio/pcm.js';
import { StreamTail } from '@switchyard/engine-api/audio/stream-tail.js';
import {
  FRAME_SAMPLES,
  LONGEST_UTTERANCE,
  VoiceActivityTracker,
  type VoiceEvent,
} from '@switchyard/engine-api/audio/voice-activity-tracker.js';
import { wavHeader } from '@switchyard/engine-api/audio/wav-header.js';
import {
  type Transcript,
  type VoiceActivityOptions,
} from '@switchyard/engine-api/speech-recognizer.js';
import { type StreamEvent } from '@switchyard/worker-protocol/call.codec.js';
import { InterimSchedule } from '../../../core/realtime/interim-schedule.js';
import { UsualLanguage } from '../../../core/realtime/usual-language.js';
import { type StreamHandle } from '../../../worker-client/stream-handle.js';

/** Frames, 3 s, whose quietest is the noise of the room: who speaks pauses more often. */
const MEMORY = 96;
/** Decibels below full scale: what counts as noise before anything was heard. */
const FIRST_NOISE = -55;
const LEAST_NOISE = -70;
/** Quieter is no speech whatever the room is like. */
const LEAST_SPEECH = -50;
/** Decibels above the noise at which the probability of speech is one half. */
const EVEN_DB = 9;
const SLOPE_DB = 3;

/**
 * How likely a frame of PCM s16le is speech, 0..1, by its level above the noise of the
 * last seconds.
 */
export function voiceLevel() {
  const levels = new Float32Array(MEMORY).fill(FIRST_NOISE);
  let next = 0;
  return (frame: Buffer): number => {
    const level = decibels(frame);
    levels[next] = Math.max(LEAST_NOISE, level);
    next = (next + 1) % MEMORY;
    if (level < LEAST_SPEECH) return 0;
    const noise = Math.min(...levels);
    return 1 / (1 + Math.exp(-(level - noise - EVEN_DB) / SLOPE_DB));
  };
}

function decibels(frame: Buffer): number {
  let sum = 0;
  for (let at = 0; at < frame.length; at += 2) sum += frame.readInt16LE(at) ** 2;
  const samples = frame.length / 2;
  return 10 * Math.log10(sum / samples / 32_768 ** 2 + 1e-12);
}

/** Utterances that may wait for the recogniser before audio does. */
const MOST_WAITING = 3;
const BYTES = 2;
/** Samples of 16 kHz, 30 s. */
const HEARD_ENOUGH = 30 * RECOGNISER_RATE;

export interface RecognisedUtterance {
  /** @throws DomainError */
  readonly transcript: Promise<Transcript>;
  cancel(): void;
}

/**
 * The live stream of a recogniser that takes whole files: speech is cut into utterances
 * by its level, and each is a request. Finals come in order. It holds no slot of a worker.
 */
export class UtteranceStream implements StreamHandle {
  readonly #end = Promise.withResolvers<void>();
  readonly #speech = voiceLevel();
  readonly #tracker: VoiceActivityTracker | undefined;
  readonly #frameBytes: number;
  readonly #running = new Set<RecognisedUtterance>();
  readonly #events: StreamEvent[] = [];
  #wake: () => void = () => undefined;
  #failure: Error | undefined;
  /** Audio that an utterance still needs; the rest is dropped. */
  readonly #audio = new StreamTail<Buffer>(length => Buffer.allocUnsafeSlow(length));
  /** Bytes that voice activity has judged. */
  #judged = 0;
  /** Byte at which the utterance began that is being spoken; without voice activity always. */
  #openFrom: number | undefined;
  #utterance = 0;
  #interim: RecognisedUtterance | undefined;
  #interims = 0;
  readonly #schedule: InterimSchedule | undefined;
  readonly #language = new UsualLanguage();
  /** Bytes of the utterances that have ended. */
  #uttered = 0;
  /** Byte at which the last speech ended. */
  #spokenTo = 0;
  #last = Promise.resolve();
  #closed = false;
  #ended = false;

  constructor(
    private readonly options: {
      /** Hz of the PCM s16le that comes in. */
      readonly sampleRate: number;
      /** Absent: utterances end with a commit only. */
      readonly voiceActivity?: VoiceActivityOptions | undefined;
      /**
       * Recognises the beginning of an utterance while it is being spoken; absent: no text
       * before its end.
       */
      readonly interim?:
        | {
            /** Seconds of new speech after which the utterance is recognised again. */
            readonly everyS: number;
            /** Whether nothing else waits for the model. */
            readonly isIdle: () => boolean;
          }
        | undefined;
      /**
       * Recognises one utterance, a request of its own.
       * @param wav a whole file. @param seconds of it. @param name `2`: the third;
       *   `2.0`: its beginning, for the first time. @param draft it is a beginning, probably in
       *   that language
       */
      recognise(
        wav: Buffer,
        seconds: number,
        name: string,
        draft?: { readonly language: string },
      ): RecognisedUtterance;
    },
  ) {
    const { voiceActivity, sampleRate } = options;
    this.#frameBytes = BYTES * Math.round((FRAME_SAMPLES * sampleRate) / RECOGNISER_RATE);
    if (options.interim) this.#schedule = new InterimSchedule(options.interim.everyS);
    if (voiceActivity) this.#tracker = new VoiceActivityTracker(voiceActivity);
    else this.#openFrom = 0;
  }

  /** Passes that must agree on a word before it is sent. */
  readonly agreement = 2;

  get finished(): Promise<void> {
    return this.#end.promise;
  }

  /** Share of the audio that is speech; until enough is heard, all of it. */
  get speaking(): number {
    if (this.#audio.end < this.#bytesAt(HEARD_ENOUGH)) return 1;
    return this.#uttered / this.#audio.end;
  }

  /** Utterances that have ended and have no text yet. */
  get waiting(): number {
    return this.#running.size;
  }

  async sendFrame(data: Buffer, isLast = false): Promise<void> {
    if (this.#closed) return;
    this.#audio.append(data);
    if (this.#tracker) this.#judge(this.#tracker);
    else if (this.#audio.end - this.#openFrom! >= this.#bytesAt(LONGEST_UTTERANCE))
      this.#finish(this.#audio.end);
    this.#recogniseBeginning();
    this.#dropOld();
    if (isLast) void this.close();
    if (this.#running.size >= MOST_WAITING) await Promise.race([this.#last, this.finished]);
  }

  commit(): Promise<void> {
    this.#commit();
    return Promise.resolve();
  }

  async *receiveEvents(): AsyncGenerator<StreamEvent> {
    for (;;) {
      yield* this.#events.splice(0);
      if (this.#failure) throw this.#failure;
      if (this.#events.length > 0) continue;
      if (this.#ended) return;
      await new Promise<void>(resolve => (this.#wake = resolve));
    }
  }

  async close(): Promise<void> {
    if (!this.#closed) this.#commit();
    this.#closed = true;
    await this.#last;
    this.#finishAll();
  }

  cancel(): Promise<void> {
    this.#closed = true;
    this.#interim?.cancel();
    for (const one of this.#running) one.cancel();
    this.#events.length = 0;
    this.#finishAll();
    return Promise.resolve();
  }

  #fail(error: Error): void {
    this.#failure ??= error;
    this.#finishAll();
  }

  #finishAll(): void {
    this.#ended = true;
    this.#end.resolve();
    this.#wake();
  }

  /** The byte of a sample of 16 kHz. */
  #bytesAt(sample: number): number {
    return BYTES * Math.round((sample * this.options.sampleRate) / RECOGNISER_RATE);
  }

  #second(byte: number): number {
    return byte / BYTES / this.options.sampleRate;
  }

  #judge(tracker: VoiceActivityTracker): void {
    while (this.#audio.end - this.#judged >= this.#frameBytes) {
      const frame = this.#audio.view(this.#judged, this.#judged + this.#frameBytes);
      this.#judged += this.#frameBytes;
      const probability = this.#speech(frame);
      if (probability >= this.options.voiceActivity!.threshold) this.#spokenTo = this.#judged;
      const event = tracker.next(probability);
      if (event) this.#spoken(event);
      if (tracker.speaking && this.#judged - this.#openFrom! >= this.#bytesAt(LONGEST_UTTERANCE))
        for (const cut of tracker.split(tracker.position)) this.#spoken(cut);
    }
  }

  #spoken(event: VoiceEvent): void {
    const at = event.atS;
    if (event.type === 'started') {
      this.#openFrom = this.#bytesAt(event.audioFrom);
      this.#schedule?.began(at);
      return this.#emit({ type: 'speech_started', utterance: this.#utterance, at });
    }
    this.#emit({ type: 'speech_stopped', utterance: this.#utterance, at });
    this.#finish(this.#bytesAt(event.audioTo));
  }

  #commit(): void {
    if (!this.#tracker) return this.#finish(this.#audio.end);
    for (const event of this.#tracker.finish(this.#tracker.position)) this.#spoken(event);
  }

  /** The utterance ends at byte `to`. */
  #finish(to: number): void {
    const from = this.#openFrom ?? to;
    this.#openFrom = this.#tracker ? undefined : to;
    const utterance = this.#utterance++;
    this.#interim?.cancel();
    this.#interim = undefined;
    this.#interims = 0;
    this.#schedule?.ended();
    const pcm = this.#audio.view(from, to);
    this.#uttered += pcm.length;
    const [start, end] = [this.#second(from), this.#second(to)];
    const final = { type: 'final', utterance, start, end } as const;
    let recognised: RecognisedUtterance | undefined;
    try {
      if (pcm.length > 0) {
        recognised = this.#recognise(pcm, String(utterance));
        this.#running.add(recognised);
      }
    } catch (error) {
      return this.#fail(error as Error);
    }
    this.#last = this.#last.then(async () => {
      try {
        const transcript = await recognised?.transcript;
        this.#language.add(transcript?.language ?? '', end - start);
        const words = (transcript?.words ?? []).map(word => ({
          ...word,
          start: word.start + start,
          end: word.end + start,
        }));
        this.#emit({ ...final, text: transcript?.text ?? '', words });
      } catch (error) {
        this.#fail(error as Error);
      } finally {
        if (recognised) this.#running.delete(recognised);
        this.#recogniseBeginning();
      }
    });
  }

  /** Its text is a guess that the end of the utterance replaces; without one nothing is lost. */
  #recogniseBeginning(): void {
    const { interim } = this.options;
    const [schedule, from] = [this.#schedule, this.#openFrom];
    if (!interim || !schedule || from === undefined || this.#closed) return;
    // The end of the utterance is near when the last of it is silence.
    const to = this.#tracker ? this.#spokenTo : this.#audio.end;
    if (!schedule.begins(this.#second(from), this.#second(to), interim.isIdle)) return;
    const utterance = this.#utterance;
    const name = `${utterance}.${this.#interims++}`;
    try {
      const beginning = this.#audio.view(from, this.#audio.end);
      const recognised = this.#recognise(beginning, name, { language: this.#language.code });
      this.#interim = recognised;
      const isCurrent = () => this.#interim === recognised;
      const said = ({ text }: Transcript) => {
        if (isCurrent() && text !== '') this.#emit({ type: 'partial', utterance, text });
      };
      void recognised.transcript
        .then(said)
        .catch(() => undefined)
        .finally(() => {
          if (!isCurrent()) return;
          this.#interim = undefined;
          schedule.ended();
          this.#recogniseBeginning();
        });
    } catch {
      // Such as a full queue: the next words try again.
      schedule.ended();
    }
  }

  #recognise(
    pcm: Buffer,
    name: string,
    draft?: { readonly language: string },
  ): RecognisedUtterance {
    const { sampleRate } = this.options;
    const wav = Buffer.concat([wavHeader(sampleRate, pcm.length), pcm]);
    const seconds = this.#second(pcm.length);
    const recognised = this.options.recognise(wav, seconds, name, draft);
    recognised.transcript.catch(() => undefined);
    return recognised;
  }

  #emit(event: StreamEvent): void {
    if (this.#ended) return;
    this.#events.push(event);
    this.#wake();
  }

  #dropOld(): void {
    const needed = this.#tracker
      ? Math.min(this.#bytesAt(this.#tracker.claimableFrom), this.#judged)
      : this.#openFrom!;
    this.#audio.dropBefore(needed);
  }
}

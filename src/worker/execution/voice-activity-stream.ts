import { RECOGNISER_RATE } from '@switchyard/engine-api/audio/pcm.js';
import { quietestPoint } from '@switchyard/engine-api/audio/utterance-split.js';
import {
  FRAME_SAMPLES,
  LONGEST_UTTERANCE,
  type VoiceEvent,
} from '@switchyard/engine-api/audio/voice-activity-tracker.js';
import { type VoiceActivitySession } from '@switchyard/engine-sherpa/voice-activity.js';
import {
  movedEvent,
  type RecognizerEvent,
  type RecognizerStream,
} from '@switchyard/engine-api/speech-recognizer.js';
import { WorkLine } from '../lifecycle/work-line.js';
import { type StreamEvent } from '../../contracts/grpc/call.codec.js';

type EmitEvent = (event: StreamEvent) => void;

/**
 * A live stream as its call drives it. Events are emitted as they come, not returned: a
 * final may take long.
 */
export interface LiveStream {
  /** Mono s16 at 16 kHz. Resolves when there is room for more. */
  push(samples: Int16Array): Promise<void>;
  /** Ends the utterance; its final is emitted when it is decoded. */
  commit(): Promise<void>;
  /** Resolves when all events of the audio so far have been emitted. */
  done(): Promise<void>;
  close(): Promise<void>;
}

/** Utterances end by commit only. */
export const committedStream = (
  stream: RecognizerStream,
  emit: EmitEvent,
): LiveStream => ({
  push: async samples => (await stream.push(samples)).forEach(emit),
  commit: async () => (await stream.commit()).forEach(emit),
  done: () => Promise.resolve(),
  close: () => stream.close(),
});

/** Samples that may wait for the recogniser before the caller is throttled. */
const MOST_WAITING = 2 * RECOGNISER_RATE;

/**
 * Queue of calls to a recogniser's stream; voice activity detection runs ahead of them.
 * The recogniser receives utterances only, so its clock stops between them: events are
 * emitted with the session's times and utterance numbers.
 */
class RecognizerBacklog {
  readonly #calls = new WorkLine(MOST_WAITING);
  /** Samples given to the recogniser in total: its clock. */
  #given = 0;
  #utterance = 0;
  #shiftS = 0;

  constructor(
    private readonly stream: RecognizerStream,
    private readonly emit: EmitEvent,
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
  room(): Promise<void> {
    return this.#calls.room();
  }

  /** Resolves when all is recognised and emitted. @throws what the recogniser threw. */
  done(): Promise<void> {
    return this.#calls.done();
  }

  close(): Promise<void> {
    this.#calls.end(new Error('The stream is closed.'));
    return this.stream.close();
  }

  #queue(samples: number, call: () => Promise<readonly RecognizerEvent[]>): void {
    const [utterance, shiftS] = [this.#utterance, this.#shiftS];
    this.#calls.add(async () => {
      for (const event of await call()) this.emit(movedEvent(event, utterance, shiftS));
    }, samples);
  }
}

/**
 * The end of a stream of samples, addressed by position in the stream; samples no longer
 * needed are dropped.
 */
class SampleTail {
  #samples = new Int16Array(0);
  #from = 0;
  /** Position after the last sample. */
  end = 0;

  append(samples: Int16Array): void {
    const kept = this.end - this.#from;
    if (kept + samples.length > this.#samples.length) this.#grow(kept + samples.length);
    this.#samples.set(samples, kept);
    this.end += samples.length;
  }

  /** A copy of the samples kept between two positions. */
  slice(from: number, to: number): Int16Array {
    return this.#samples.slice(
      Math.max(0, from - this.#from),
      Math.max(0, Math.min(to, this.end) - this.#from),
    );
  }

  dropBefore(position: number): void {
    const gone = Math.min(position, this.end) - this.#from;
    if (gone <= 0) return;
    this.#samples.copyWithin(0, gone, this.end - this.#from);
    this.#from += gone;
  }

  #grow(needed: number): void {
    const larger = new Int16Array(Math.max(needed, this.#samples.length * 2, 8192));
    larger.set(this.#samples.subarray(0, this.end - this.#from));
    this.#samples = larger;
  }
}

/**
 * Near the length limit the recogniser is held back by this much, so that the cut can
 * fall on the best pause of the last 2 s.
 */
const HELD_BACK = 2 * RECOGNISER_RATE;

/**
 * A recogniser that receives speech only, and whose utterances end by voice activity
 * detection. Order of one utterance's events: speech_started, partials, speech_stopped,
 * final. A final comes when it is decoded, possibly after the next speech_started.
 */
export class VoiceActivityStream implements LiveStream {
  readonly #tail = new SampleTail();
  readonly #work: RecognizerBacklog;
  /** Number of the utterance being spoken, or of the next one. */
  #utterance = 0;
  /** First sample of the current utterance; undefined between utterances. */
  #openFrom: number | undefined;
  /** Samples before this were given to the recogniser, or never will be. */
  #givenTo = 0;

  constructor(
    stream: RecognizerStream,
    private readonly voice: VoiceActivitySession,
    private readonly emit: EmitEvent,
  ) {
    this.#work = new RecognizerBacklog(stream, emit);
  }

  async push(samples: Int16Array): Promise<void> {
    for (let at = 0; at < samples.length; at += FRAME_SAMPLES) {
      const piece = samples.subarray(at, at + FRAME_SAMPLES);
      this.#tail.append(piece);
      for (const event of this.voice.push(piece)) this.#received(event);
      if (
        this.#openFrom !== undefined &&
        this.voice.position - this.#openFrom >= LONGEST_UTTERANCE
      )
        this.#cut();
    }
    this.#give(this.#openFrom === undefined ? 0 : this.#safeToGive(this.#openFrom));
    this.#tail.dropBefore(Math.max(this.#givenTo, this.voice.claimableFrom));
    await this.#work.room();
  }

  /** Without a current utterance nothing is emitted. */
  async commit(): Promise<void> {
    for (const event of this.voice.end()) this.#received(event);
    await this.#work.room();
  }

  done(): Promise<void> {
    return this.#work.done();
  }

  close(): Promise<void> {
    this.voice.close();
    return this.#work.close();
  }

  #received(event: VoiceEvent): void {
    if (event.type === 'started') {
      this.#openFrom = this.#givenTo = event.audioFrom;
      this.#work.begin(this.#utterance, event.audioFrom);
      this.emit({
        type: 'speech_started',
        utterance: this.#utterance,
        at: event.audioFrom / RECOGNISER_RATE,
      });
      return;
    }
    this.#give(event.audioTo);
    this.emit({
      type: 'speech_stopped',
      utterance: this.#utterance,
      at: event.audioTo / RECOGNISER_RATE,
    });
    this.#work.commit();
    this.#utterance += 1;
    this.#openFrom = undefined;
  }

  #cut(): void {
    const held = this.#tail.slice(this.#givenTo, this.voice.position);
    for (const event of this.voice.split(
      this.#givenTo + quietestPoint(held, 0, held.length),
    ))
      this.#received(event);
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

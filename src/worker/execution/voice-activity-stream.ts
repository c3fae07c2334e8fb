import { RECOGNISER_RATE } from '@switchyard/engine-api/audio/pcm.js';
import { StreamTail } from '@switchyard/engine-api/audio/stream-tail.js';
import { quietestPoint } from '@switchyard/engine-api/audio/utterance-split.js';
import {
  FRAME_SAMPLES,
  LONGEST_UTTERANCE,
  type VoiceEvent,
} from '@switchyard/engine-api/audio/voice-activity-tracker.js';
import {
  movedEvent,
  type RecognizerEvent,
  type RecognizerStream,
} from '@switchyard/engine-api/speech-recognizer.js';
import { type openVoiceActivity } from '@switchyard/engine-sherpa/voice-activity.js';
import { type StreamEvent } from '@switchyard/worker-protocol/call.codec.js';
import { WorkLine } from '../audio/work-line.js';

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

/** @param voice ends utterances as well; undefined: they end by commit only */
export const liveStream = (
  stream: RecognizerStream,
  voice: ReturnType<typeof openVoiceActivity> | undefined,
  emit: EmitEvent,
): LiveStream =>
  voice ? new VoiceActivityStream(stream, voice, emit) : committedStream(stream, emit);

const committedStream = (stream: RecognizerStream, emit: EmitEvent): LiveStream => ({
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
function recognizerBacklog(stream: RecognizerStream, emit: EmitEvent) {
  const calls = new WorkLine(MOST_WAITING);
  /** Samples given to the recogniser in total: its clock. */
  let given = 0;
  let [utterance, shiftS] = [0, 0];
  const queue = (samples: number, call: () => Promise<readonly RecognizerEvent[]>): void => {
    const [own, byS] = [utterance, shiftS];
    calls.add(async () => {
      for (const event of await call()) emit(movedEvent(event, own, byS));
    }, samples);
  };
  return {
    /** What follows is utterance number `next`, from sample `from` of the session. */
    begin: (next: number, from: number): void => {
      utterance = next;
      shiftS = (from - given) / RECOGNISER_RATE;
    },
    push: (samples: Int16Array): void => {
      given += samples.length;
      queue(samples.length, () => stream.push(samples));
    },
    commit: (): void => queue(0, () => stream.commit()),
    /** Resolves when no more than 2 s of audio wait. @throws what the recogniser threw. */
    room: () => calls.room(),
    /** Resolves when all is recognised and emitted. @throws what the recogniser threw. */
    done: () => calls.done(),
    close: (): Promise<void> => {
      calls.end(new Error('The stream is closed.'));
      return stream.close();
    },
  };
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
class VoiceActivityStream implements LiveStream {
  readonly #tail = new StreamTail<Int16Array>(length => new Int16Array(length));
  readonly #work: ReturnType<typeof recognizerBacklog>;
  /** Number of the utterance being spoken, or of the next one. */
  #utterance = 0;
  /** First sample of the current utterance; undefined between utterances. */
  #openFrom: number | undefined;
  /** Samples before this were given to the recogniser, or never will be. */
  #givenTo = 0;

  constructor(
    stream: RecognizerStream,
    private readonly voice: ReturnType<typeof openVoiceActivity>,
    private readonly emit: EmitEvent,
  ) {
    this.#work = recognizerBacklog(stream, emit);
  }

  async push(samples: Int16Array): Promise<void> {
    for (let at = 0; at < samples.length; at += FRAME_SAMPLES) {
      const piece = samples.subarray(at, at + FRAME_SAMPLES);
      this.#tail.append(piece);
      for (const event of this.voice.push(piece)) this.#received(event);
      if (this.#openFrom !== undefined && this.voice.position - this.#openFrom >= LONGEST_UTTERANCE)
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
    const held = this.#tail.view(this.#givenTo, this.voice.position);
    for (const event of this.voice.split(this.#givenTo + quietestPoint(held, 0, held.length)))
      this.#received(event);
  }

  #safeToGive(openFrom: number): number {
    const limit = openFrom + LONGEST_UTTERANCE - HELD_BACK;
    return Math.min(this.voice.position, limit);
  }

  #give(to: number): void {
    if (to <= this.#givenTo) return;
    this.#work.push(this.#tail.view(this.#givenTo, to).slice());
    this.#givenTo = to;
  }
}

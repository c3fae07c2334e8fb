import { Inject, Injectable } from '@nestjs/common';
import { SPEECH_RATE } from '@switchyard/engine-api/audio/pcm.js';
import {
  type SpeechSynthesizer,
  type SynthesizeItem,
} from '@switchyard/engine-api/speech-synthesizer.js';
import { type CallExecution } from '@switchyard/worker-protocol/call.codec.js';
import { SPEECH_CONTENT_TYPES } from '@switchyard/worker-protocol/speech-format.js';
import { type SynthesizeCallFields } from '@switchyard/worker-protocol/tts.codec.js';
import { DomainError } from '../../core/errors/domain-error.js';
import { SpeechPace } from '../../core/latency/speech-pace.js';
import { Playback } from '../../core/order/playback.js';
import { RequestPriority } from '../../core/request/request-priority.js';
import { ProcessClock } from '../../platform/clock/process-clock.js';
import { WorkerSpec } from '../../platform/config/worker-spec.js';
import { speechOutput } from '../audio/encode.js';
import { ENGINE } from '../engines/worker-engine.js';
import { InFlightCalls } from '../lifecycle/in-flight-calls.js';
import { BatchJournal } from './batch-journal.js';
import { executionOfParts } from './execution-of-parts.js';
import { MicroBatcher } from './micro-batcher.js';
import { sentencesOf } from './sentences.js';

export interface SpeechHeader {
  readonly contentType: string;
  readonly sampleRate: number;
}

/** Receives one speech in order: its header once, then its bytes. */
export interface SpeechReceiver {
  header(header: SpeechHeader): void;
  audio(bytes: Buffer): void;
}

/** What was made of one text. */
export interface Spoken {
  readonly durationS: number;
  /** Seconds for which its listener waited in the middle of it. */
  readonly lateS: number;
  readonly execution: CallExecution;
}

type Batcher = MicroBatcher<() => SynthesizeItem, SynthesizeItem, { readonly durationS: number }>;

/** One text: all its sentences wait at once, and the first failure ends them. */
class Speech {
  readonly #playback = new Playback();
  readonly #failed = new AbortController();

  constructor(
    private readonly options: {
      readonly batcher: Batcher;
      readonly pace: SpeechPace;
      readonly clock: ProcessClock;
      readonly call: SynthesizeCallFields;
      /** Whether the audio is played while it is made. */
      readonly isHeard: boolean;
      /** Sample rate in Hz. */
      readonly sampleRate: number;
      /** Where the samples go; it is opened before the first are made. */
      readonly output: () => { write(samples: Int16Array): void };
    },
  ) {}

  async speak(sentences: readonly string[], signal: AbortSignal): Promise<Spoken> {
    const stop = AbortSignal.any([signal, this.#failed.signal]);
    const parts = sentences.map((text, index) => this.#sentence(text, index, stop));
    try {
      const made = await Promise.all(parts);
      const executions = made.map(({ execution }) => execution);
      // What its listener waits for is its first sentence.
      const { readyWaitMs } = executions[0]!;
      return {
        durationS: made.reduce((sum, { value }) => sum + value.durationS, 0),
        lateS: this.options.isHeard ? this.#playback.lateMs / 1000 : 0,
        execution: { ...executionOfParts(executions), readyWaitMs },
      };
    } catch (error) {
      this.#failed.abort(error);
      throw error;
    } finally {
      await Promise.allSettled(parts);
    }
  }

  async #sentence(text: string, index: number, signal: AbortSignal) {
    const { batcher, pace, call, isHeard, output } = this.options;
    const { requestId, traceparent, voice, speed, priority, group } = call;
    const isFirst = index === 0;
    const characters = text.length / speed;
    const input = (): SynthesizeItem => {
      const samplesTo = output();
      const emit = (samples: Int16Array): void => {
        this.#heard(samples.length);
        samplesTo.write(samples);
      };
      return { requestId, traceparent, text, voice, speed, signal, emit };
    };
    // Only the first sentence counts as a member of the gateway's group.
    const own = isFirst ? undefined : { id: `${requestId}#${index}`, size: 1 };
    const spoken = await batcher.submit({
      call: { requestId, priority, group: { ...group, ...own } },
      flow: requestId,
      sentence: {
        ...pace.expected(characters),
        playback: isHeard ? this.#playback : undefined,
        isFirst,
      },
      input,
      signal,
    });
    pace.observe(characters, spoken.execution.deviceMs, spoken.value.durationS * 1000);
    return spoken;
  }

  #heard(samples: number): void {
    const { clock, sampleRate } = this.options;
    this.#playback.made((samples / sampleRate) * 1000, clock.nowMs());
  }
}

/**
 * Speech: the device only synthesises. Encoders start in the preparation stage and finish
 * after the last engine call, so neither they nor a slow reader hold the device. A text is
 * spoken sentence by sentence where the device takes one item at a time (D-57).
 */
@Injectable()
export class SynthesisService {
  readonly #batcher: Batcher;

  constructor(
    @Inject(ENGINE) private readonly engine: SpeechSynthesizer,
    private readonly spec: WorkerSpec,
    private readonly clock: ProcessClock,
    journal: BatchJournal,
    calls: InFlightCalls,
    private readonly pace: SpeechPace,
  ) {
    this.#batcher = new MicroBatcher({
      prepare: input => Promise.resolve(input()),
      compute: group => engine.synthesize(group),
      engine,
      spec,
      clock,
      journal,
      calls,
    });
  }

  /**
   * Resolves once `receiver` has all of it.
   * @param isHeard somebody hears it while it is made
   * @throws DomainError this call's own failure, or the abort's error once the
   *   work has stopped
   */
  async synthesize(
    call: SynthesizeCallFields,
    signal: AbortSignal,
    receiver: SpeechReceiver,
    isHeard = call.priority === RequestPriority.REALTIME,
  ): Promise<Spoken> {
    this.#assertVoice(call.voice);
    const { engine, clock, pace } = this;
    const { sampleRate } = engine;
    const ended = new AbortController();
    const onBytes = withHeader(call, receiver);
    // The encoder's process never outlives its request.
    const released = AbortSignal.any([signal, ended.signal]);
    let output: ReturnType<typeof speechOutput> | undefined;
    const opened = () =>
      (output ??= speechOutput({ format: call.format, sampleRate, signal: released, onBytes }));
    const batcher = this.#batcher;
    const speech = new Speech({ batcher, pace, clock, call, isHeard, sampleRate, output: opened });
    try {
      const spoken = await speech.speak(sentencesOf(engine, this.spec, call.text), signal);
      await output?.finish();
      onBytes();
      return spoken;
    } finally {
      ended.abort();
    }
  }

  #assertVoice(voice: string): void {
    const known = this.engine.voices.map(({ id }) => id);
    if (known.includes(voice)) return;
    throw new DomainError('voice_not_found', `No voice "${voice}"; voices: ${known.join(', ')}.`, {
      param: 'voice',
    });
  }
}

/**
 * The header goes with the first audio, or alone at the end: a call that fails before has
 * sent nothing.
 */
function withHeader({ format }: SynthesizeCallFields, receiver: SpeechReceiver) {
  let pending = true;
  return (bytes?: Buffer): void => {
    const contentType = SPEECH_CONTENT_TYPES[format];
    if (pending) receiver.header({ contentType, sampleRate: SPEECH_RATE });
    pending = false;
    if (bytes) receiver.audio(bytes);
  };
}

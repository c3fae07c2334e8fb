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
import { ProcessClock } from '../../platform/clock/clock.module.js';
import { WorkerSpec } from '../../platform/config/worker-spec.js';
import { speechOutput } from '../audio/encode.js';
import { ENGINE } from '../engines/worker-engine.js';
import { InFlightCalls } from '../lifecycle/in-flight-calls.js';
import { BatchJournal } from './batch-journal.js';
import { MicroBatcher } from './micro-batcher.js';

export interface SpeechHeader {
  readonly contentType: string;
  readonly sampleRate: number;
}

/** Receives one speech in order: its header once, then its bytes. */
export interface SpeechReceiver {
  header(header: SpeechHeader): void;
  audio(bytes: Buffer): void;
}

/**
 * Speech: the device only synthesises. Encoders start in the preparation stage and finish
 * after the engine call, so neither they nor a slow reader hold the device.
 */
@Injectable()
export class SynthesisService {
  readonly #batcher: MicroBatcher<
    () => SynthesizeItem,
    SynthesizeItem,
    { readonly durationS: number }
  >;

  constructor(
    @Inject(ENGINE) private readonly engine: SpeechSynthesizer,
    spec: WorkerSpec,
    clock: ProcessClock,
    journal: BatchJournal,
    calls: InFlightCalls,
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
   * @throws DomainError this call's own failure, or the abort's error once the
   *   work has stopped
   */
  async synthesize(
    call: SynthesizeCallFields,
    signal: AbortSignal,
    receiver: SpeechReceiver,
  ): Promise<{ readonly durationS: number; readonly execution: CallExecution }> {
    this.#assertVoice(call.voice);
    const ended = new AbortController();
    const onBytes = withHeader(call, receiver);
    let output: ReturnType<typeof speechOutput> | undefined;
    // The encoder's process never outlives its request.
    const released = AbortSignal.any([signal, ended.signal]);
    const input = (): SynthesizeItem => {
      const opened = speechOutput({
        format: call.format,
        sampleRate: this.engine.sampleRate,
        signal: released,
        onBytes,
      });
      output = opened;
      const { requestId, traceparent, text, voice, speed } = call;
      const emit = (samples: Int16Array): void => opened.write(samples);
      return { requestId, traceparent, text, voice, speed, signal, emit };
    };
    try {
      const { value, execution } = await this.#batcher.submit({ call, input, signal });
      await output?.finish();
      onBytes();
      return { durationS: value.durationS, execution };
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

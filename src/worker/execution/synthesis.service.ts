import { Inject, Injectable } from '@nestjs/common';
import { encodeExecution } from '../../contracts/grpc/call.codec.js';
import {
  type SpeechMessage,
  type SynthesizeCallFields,
} from '../../contracts/grpc/tts.codec.js';
import { DomainError } from '../../core/errors/domain-error.js';
import { ProcessClock } from '../../platform/clock/clock.module.js';
import { WORKER_SPEC, type WorkerSpec } from '../../platform/config/worker-spec.js';
import { CONTENT_TYPES, openEncoder, SpeechOutput } from '../audio/encode.js';
import { SPEECH_RATE } from '@switchyard/engine-api/audio/pcm.js';
import {
  type SpeechSynthesizer,
  type SynthesizeItem,
} from '@switchyard/engine-api/speech-synthesizer.js';
import { SYNTHESIZER } from '../engines/worker-engine.js';
import { BatchJournal } from './batch-journal.js';
import { deviceLimits, MicroBatcher } from './micro-batcher.js';
import { type WorkItem } from './work-item.js';

/** Receives the stream of one speech in order: header, audio, done. */
export type ChunkSink = (message: SpeechMessage) => void;

interface SpeechInput {
  readonly call: SynthesizeCallFields;
  readonly sink: ChunkSink;
  /** Aborts when the request has ended: the encoder's process never outlives it. */
  readonly released: AbortSignal;
}

interface Speech {
  readonly item: SynthesizeItem;
  readonly output: SpeechOutput;
}

interface Spoken {
  readonly durationS: number;
  readonly output: SpeechOutput;
}

/**
 * Speech: the device only synthesises. Encoders start in the preparation stage and finish
 * after the engine call, so neither they nor a slow reader hold the device.
 */
@Injectable()
export class SynthesisService {
  readonly #batcher: MicroBatcher<SpeechInput, Speech, Spoken>;

  constructor(
    @Inject(SYNTHESIZER) private readonly engine: SpeechSynthesizer,
    @Inject(WORKER_SPEC) spec: WorkerSpec,
    clock: ProcessClock,
    journal: BatchJournal,
  ) {
    this.#batcher = new MicroBatcher({
      prepare: item => Promise.resolve(this.#prepare(item)),
      compute: group => this.#synthesise(group),
      limits: () => deviceLimits(engine.info, spec),
      prepParallel: spec.prepParallel,
      clock,
      journal,
    });
  }

  /**
   * Resolves after `done`.
   * @throws DomainError this call's own failure, or the abort's error once the
   *   work has stopped
   */
  async synthesize(
    call: SynthesizeCallFields,
    signal: AbortSignal,
    sink: ChunkSink,
  ): Promise<void> {
    this.#assertVoice(call.voice);
    const { requestId: id, priority, group } = call;
    const ended = new AbortController();
    const input = {
      call,
      sink: withHeader(call, sink),
      released: AbortSignal.any([signal, ended.signal]),
    };
    try {
      const { value, execution } = await this.#batcher.submit({
        id,
        priority,
        group,
        input,
        signal,
      });
      await value.output.finish();
      sink({
        $case: 'done',
        value: { durationS: value.durationS, execution: encodeExecution(execution) },
      });
    } finally {
      ended.abort();
    }
  }

  #assertVoice(voice: string): void {
    const known = this.engine.voices.map(({ id }) => id);
    if (known.includes(voice)) return;
    throw new DomainError(
      'voice_not_found',
      `No voice "${voice}"; voices: ${known.join(', ')}.`,
      { param: 'voice' },
    );
  }

  #prepare({ input: { call, sink, released }, signal }: WorkItem<SpeechInput>): Speech {
    const onBytes = (bytes: Buffer): void => sink({ $case: 'audio', value: bytes });
    const encoder = openEncoder({ format: call.format, signal: released, onBytes });
    const output = new SpeechOutput(encoder, this.engine.sampleRate);
    const { requestId, traceparent, text, voice, speed } = call;
    return {
      output,
      item: {
        requestId,
        traceparent,
        text,
        voice,
        speed,
        signal,
        emit: samples => output.write(samples),
      },
    };
  }

  async #synthesise(group: readonly Speech[]) {
    const outcomes = await this.engine.synthesize(group.map(({ item }) => item));
    return outcomes.map((outcome, index) => {
      if (!outcome.ok) return outcome;
      return {
        ok: true as const,
        value: { durationS: outcome.value.durationS, output: group[index]!.output },
      };
    });
  }
}

/** Sends the header with the first audio: a call that fails before has sent nothing. */
function withHeader({ format }: SynthesizeCallFields, sink: ChunkSink): ChunkSink {
  let pending = true;
  return message => {
    if (pending)
      sink({
        $case: 'header',
        value: { contentType: CONTENT_TYPES[format], sampleRate: SPEECH_RATE },
      });
    pending = false;
    sink(message);
  };
}

import { Inject, Injectable } from '@nestjs/common';
import { type TranscribeCall } from '../../contracts/grpc/stt.codec.js';
import { ProcessClock } from '../../platform/clock/clock.module.js';
import { WORKER_SPEC, type WorkerSpec } from '../../platform/config/worker-spec.js';
import { knownVoices } from '../audio/known-voices.js';
import { normaliseLoudness } from '../audio/loudness.js';
import { RECOGNIZER } from '../engine.tokens.js';
import { type PreparedAudio, type SpeechRecognizer, type TranscribeItem, type Transcript } from '../engines/engine.js';
import { WorkerState } from '../lifecycle/worker-state.js';
import { BatchJournal } from './batch-journal.js';
import { deviceLimits } from './device-limits.js';
import { MicroBatcher } from './micro-batcher.js';
import { type Computed, type WorkGroup, type WorkItem } from './work-item.js';

/** What is asked of the engine, whatever way the audio came. */
export type RecognitionOptions = Omit<TranscribeCall, 'audio' | 'group'>;

/** A file, or a window of a long one. */
export interface RecognitionJob {
  readonly options: RecognitionOptions;
  readonly group: WorkGroup;
  /** Windows of one request share it. */
  readonly flow?: string;
  /** Runs in the preparation stage. */
  readonly audio: (signal: AbortSignal) => Promise<PreparedAudio>;
  readonly onSegment?: TranscribeItem['onSegment'];
}

export interface Recognised {
  readonly transcript: Transcript;
  /** Seconds. */
  readonly durationS: number;
}

/** The engine's line: files and windows of all requests are prepared side by side and recognised in groups. */
@Injectable()
export class RecognitionLane {
  readonly #batcher: MicroBatcher<RecognitionJob, TranscribeItem, Recognised>;

  constructor(
    @Inject(RECOGNIZER) private readonly engine: SpeechRecognizer,
    @Inject(WORKER_SPEC) private readonly spec: WorkerSpec,
    clock: ProcessClock,
    journal: BatchJournal,
    state: WorkerState,
  ) {
    this.#batcher = new MicroBatcher({
      prepare: item => this.#prepare(item),
      compute: group => this.#recognise(group),
      limits: () => deviceLimits(engine.info, spec),
      prepParallel: spec.prepParallel,
      clock,
      journal,
      draining: () => state.phase === 'draining',
    });
  }

  /** Rejects with the job's own failure, or the abort's error once the work is let go. */
  submit(job: RecognitionJob, signal: AbortSignal): Promise<Computed<Recognised>> {
    const { requestId: id, priority } = job.options;
    return this.#batcher.submit({ id, priority, group: job.group, flow: job.flow, input: job, signal });
  }

  async #prepare({ input, signal }: WorkItem<RecognitionJob>): Promise<TranscribeItem> {
    const audio = await this.#loud(await input.audio(signal), signal);
    await this.engine.prepare?.(audio, signal);
    const { requestId, task, language, prompt, temperature, wordTimestamps, logprobs, diarize, hotWords } =
      input.options;
    const knownSpeakers = await knownVoices(input.options.knownSpeakers ?? [], signal);
    const options = { task, language, prompt, temperature, wordTimestamps, logprobs, diarize, knownSpeakers, hotWords };
    const chunking = audio.kind === 'encoded' ? input.options.chunking : undefined;
    return { requestId, audio, ...options, chunking, onSegment: input.onSegment, signal };
  }

  async #loud(audio: PreparedAudio, signal: AbortSignal): Promise<PreparedAudio> {
    if (audio.kind !== 'pcm' || this.spec.model.loudness !== 'normalise') return audio;
    return { ...audio, samples: await normaliseLoudness(audio.samples, signal) };
  }

  async #recognise(group: readonly TranscribeItem[]) {
    const outcomes = await this.engine.transcribe(group);
    return outcomes.map((outcome, index) =>
      outcome.ok
        ? {
            ok: true as const,
            value: { transcript: outcome.value, durationS: durationOf(group[index]!, outcome.value) },
          }
        : outcome,
    );
  }
}

/** An engine that decodes by itself tells the length, at the least by its last segment. */
const durationOf = ({ audio }: TranscribeItem, { durationS, segments }: Transcript): number =>
  audio.kind === 'pcm' ? audio.durationS : audio.durationS || durationS || (segments.at(-1)?.end ?? 0);

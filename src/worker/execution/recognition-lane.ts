import { Inject, Injectable } from '@nestjs/common';
import { type KnownSpeaker } from '@switchyard/engine-api/transcript.js';
import { type TranscribeCallFields } from '../../contracts/grpc/stt.codec.js';
import { DomainError } from '../../core/errors/domain-error.js';
import { ProcessClock } from '../../platform/clock/clock.module.js';
import { WORKER_SPEC, type WorkerSpec } from '../../platform/config/worker-spec.js';
import { decodeAudio } from '../audio/decode.js';
import { normaliseLoudness } from '../audio/loudness.js';
import {
  type KnownVoice,
  type PreparedAudio,
  type SpeechRecognizer,
  type TranscribeItem,
  type RecognizedTranscript,
} from '@switchyard/engine-api/speech-recognizer.js';
import { RECOGNIZER } from '../engines/worker-engine.js';
import { BatchJournal } from './batch-journal.js';
import { deviceLimits, MicroBatcher } from './micro-batcher.js';
import { type Computed, type WorkGroup, type WorkItem } from './work-item.js';

const PARAM = 'known_speaker_references';
const SHORTEST_S = 2;
const LONGEST_S = 10;
/**
 * Decoded at most, so that the error can name the length of a reference that is a
 * little too long.
 */
const DECODED_S = 30;
/**
 * Tolerance: encoders pad to whole frames, so ten seconds of speech are 10.03 s of mp3.
 */
const SLACK_S = 0.1;

/**
 * Decodes the reference voices of a request, one after the other, as part
 * of its preparation.
 * @throws DomainError with `param` known_speaker_references: what cannot be decoded, or
 *   is not 2 to 10 seconds long;
 * entries
 *   are counted from 0, as in the request. The abort's own error.
 */
export async function knownVoices(
  speakers: readonly KnownSpeaker[],
  signal: AbortSignal,
): Promise<KnownVoice[]> {
  const voices: KnownVoice[] = [];
  for (const [index, { name, reference }] of speakers.entries()) {
    const { samples, durationS } = await decodeAudio(reference, signal, DECODED_S).catch(
      (error: unknown) => {
        throw aboutReference(error, index);
      },
    );
    if (durationS < SHORTEST_S - SLACK_S || durationS > LONGEST_S + SLACK_S) {
      const length = `must be ${SHORTEST_S} to ${LONGEST_S} seconds long; got ${durationS.toFixed(2)}`;
      throw new DomainError('invalid_value', `\`${PARAM}[${index}]\` ${length}.`, {
        param: PARAM,
      });
    }
    voices.push({ name, samples });
  }
  return voices;
}

/** Decoders name the field `file`. */
function aboutReference(error: unknown, index: number): unknown {
  if (!(error instanceof DomainError) || error.param !== 'file') return error;
  return new DomainError(error.code, `\`${PARAM}[${index}]\`: ${error.message}`, {
    param: PARAM,
    cause: error,
  });
}

/** Recognition parameters, independent of how the audio arrived. */
export type RecognitionOptions = Omit<TranscribeCallFields, 'audio' | 'group'>;

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
  readonly transcript: RecognizedTranscript;
  /** Seconds. */
  readonly durationS: number;
}

/**
 * The engine's queue: files and windows of all requests are prepared in parallel and
 * recognised in groups.
 */
@Injectable()
export class RecognitionLane {
  readonly #batcher: MicroBatcher<RecognitionJob, TranscribeItem, Recognised>;

  constructor(
    @Inject(RECOGNIZER) private readonly engine: SpeechRecognizer,
    @Inject(WORKER_SPEC) private readonly spec: WorkerSpec,
    clock: ProcessClock,
    journal: BatchJournal,
  ) {
    this.#batcher = new MicroBatcher({
      prepare: item => this.#prepare(item),
      compute: group => this.#recognise(group),
      limits: () => deviceLimits(engine.info, spec),
      prepParallel: spec.prepParallel,
      clock,
      journal,
    });
  }

  /**
   * Rejects with the job's own failure, or the abort's error once the work has stopped
   */
  submit(job: RecognitionJob, signal: AbortSignal): Promise<Computed<Recognised>> {
    const { requestId: id, priority } = job.options;
    return this.#batcher.submit({
      id,
      priority,
      group: job.group,
      flow: job.flow,
      input: job,
      signal,
    });
  }

  async #prepare({ input, signal }: WorkItem<RecognitionJob>): Promise<TranscribeItem> {
    const audio = await this.#loud(await input.audio(signal), signal);
    await this.engine.prepare?.(audio, signal);
    const { knownSpeakers, chunking, ...options } = input.options;
    return {
      ...options,
      audio,
      knownSpeakers: await knownVoices(knownSpeakers, signal),
      ...(audio.kind === 'encoded' && { chunking }),
      onSegment: input.onSegment,
      signal,
    };
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
            value: {
              transcript: outcome.value,
              durationS: durationOf(group[index]!, outcome.value),
            },
          }
        : outcome,
    );
  }
}

/** The length from an engine that decodes by itself, at least from its last segment. */
const durationOf = (
  { audio }: TranscribeItem,
  { durationS, segments }: RecognizedTranscript,
): number =>
  audio.kind === 'pcm'
    ? audio.durationS
    : audio.durationS || durationS || (segments.at(-1)?.end ?? 0);

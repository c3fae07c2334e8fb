import { Inject, Injectable } from '@nestjs/common';
import {
  type PreparedAudio,
  type RecognizedTranscript,
  type SpeechRecognizer,
  type TranscribeItem,
} from '@switchyard/engine-api/speech-recognizer.js';
import { type TranscribeCallFields } from '@switchyard/worker-protocol/stt.codec.js';
import { ProcessClock } from '../../platform/clock/process-clock.js';
import { WorkerSpec } from '../../platform/config/worker-spec.js';
import { AudioDownload } from '../audio/audio-download.js';
import { decodeAudio } from '../audio/decode.js';
import { normaliseLoudness } from '../audio/loudness.js';
import { ENGINE } from '../engines/worker-engine.js';
import { InFlightCalls } from '../lifecycle/in-flight-calls.js';
import { BatchJournal } from './batch-journal.js';
import { MicroBatcher } from './micro-batcher.js';
import { knownVoices, recognisedWithSpeakers } from './speaker-naming.js';
import {
  numberedSegments,
  type SegmentSink,
  type TranscriptAnswer,
  TranscriptStitcher,
} from './transcript-stitcher.js';

/** A call without its audio. */
export type RecognitionCall = Omit<TranscribeCallFields, 'audio'>;

/** A file, or a window of a long one. */
interface RecognitionJob {
  readonly call: RecognitionCall;
  /** Id that the windows of one request share. */
  readonly flow?: string;
  /** Runs in the preparation stage. */
  readonly audio: (signal: AbortSignal) => Promise<PreparedAudio>;
  readonly onSegment?: TranscribeItem['onSegment'];
}

interface Recognised {
  readonly transcript: RecognizedTranscript;
  /** Seconds of audio. */
  readonly durationS: number;
}

/**
 * The gateway sends a file whole when its headers claim less than a minute. Headers can
 * be wrong, above all with variable bit rates, but not by a factor of sixty.
 */
export const SHORT_FILE_S = 3600;

/**
 * Whole files in memory: short ones, and those that an engine takes untouched. Files, and
 * windows of long ones, of all requests are prepared in parallel and recognised in groups.
 */
@Injectable()
export class RecognitionService {
  readonly #batcher: MicroBatcher<RecognitionJob, TranscribeItem, Recognised>;

  constructor(
    @Inject(ENGINE) private readonly engine: SpeechRecognizer,
    private readonly spec: WorkerSpec,
    private readonly downloads: AudioDownload,
    clock: ProcessClock,
    journal: BatchJournal,
    calls: InFlightCalls,
  ) {
    this.#batcher = new MicroBatcher({
      prepare: (job, signal) => this.#prepare(job, signal),
      compute: group => this.#recognise(group),
      engine,
      spec,
      clock,
      journal,
      calls,
    });
  }

  /**
   * @param options `sink` receives each segment once it is final: during the engine call
   *   if the engine reports it, else at the end. `mostS`: seconds decoded at most
   * @throws DomainError this call's own failure, or the abort's error once the
   *   work has stopped
   */
  async transcribe(
    call: TranscribeCallFields,
    signal: AbortSignal,
    {
      sink,
      mostS = SHORT_FILE_S,
    }: { readonly sink?: SegmentSink | undefined; readonly mostS?: number } = {},
  ): Promise<TranscriptAnswer> {
    const audio = await this.downloads.bytes(call.audio, signal);
    const bytes = (): Promise<Buffer> => Promise.resolve(audio);
    return recognisedWithSpeakers(
      { engine: this.engine, call, bytes, mostS, signal, sink },
      (own, stop, held) => this.#whole({ ...own, audio }, mostS, stop, held),
    );
  }

  /**
   * Rejects with the job's own failure, or the abort's error once the work has stopped
   */
  submit(job: RecognitionJob, signal: AbortSignal) {
    const { call, flow } = job;
    return this.#batcher.submit({ call, flow, input: job, signal });
  }

  async #whole(
    { audio, ...call }: RecognitionCall & { readonly audio: Buffer },
    mostS: number,
    signal: AbortSignal,
    sink?: SegmentSink,
  ): Promise<TranscriptAnswer> {
    const { temperature, filename } = call;
    const stitcher = sink && new TranscriptStitcher({ temperature, words: true, sink });
    const job: RecognitionJob = {
      call,
      // An engine that takes the untouched file, such as a remote one, does its own
      // decoding.
      audio: async stop =>
        this.engine.input === 'encoded'
          ? { kind: 'encoded', bytes: audio, filename, durationS: 0 }
          : {
              kind: 'pcm',
              sampleRate: 16_000,
              ...(await decodeAudio(audio, stop, mostS)),
            },
      onSegment: stitcher?.early(0, 0),
    };
    const { value, execution } = await this.submit(job, signal);
    const { transcript, durationS } = value;
    stitcher?.add(
      { index: 0, startS: 0, durationS, sharedBeforeS: 0, sharedAfterS: 0 },
      transcript,
    );
    const segments = numberedSegments(transcript, temperature);
    return { transcript: { ...transcript, durationS, segments }, execution };
  }

  async #prepare(job: RecognitionJob, signal: AbortSignal): Promise<TranscribeItem> {
    const audio = await this.#loud(await job.audio(signal), signal);
    await this.engine.prepare?.(audio, signal);
    const { knownSpeakers, chunking, ...options } = job.call;
    return {
      ...options,
      audio,
      knownSpeakers: await knownVoices(knownSpeakers, signal),
      ...(audio.kind === 'encoded' && { chunking }),
      onSegment: job.onSegment,
      signal,
    };
  }

  async #loud(audio: PreparedAudio, signal: AbortSignal): Promise<PreparedAudio> {
    if (audio.kind !== 'pcm' || this.spec.model.loudness !== 'normalise') return audio;
    return { ...audio, samples: await normaliseLoudness(audio.samples, signal) };
  }

  async #recognise(group: readonly TranscribeItem[]) {
    const outcomes = await this.engine.transcribe(group);
    return outcomes.map((outcome, index) => {
      if (!outcome.ok) return outcome;
      const durationS = durationOf(group[index]!, outcome.value);
      return { ok: true as const, value: { transcript: outcome.value, durationS } };
    });
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

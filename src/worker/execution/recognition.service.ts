import { Inject, Injectable } from '@nestjs/common';
import { type Transcript } from '@switchyard/engine-api/transcript.js';
import { type CallExecution } from '../../contracts/grpc/call.codec.js';
import { type TranscribeCallFields } from '../../contracts/grpc/stt.codec.js';
import { aboutUrl, AudioDownload } from '../audio/audio-download.js';
import { decodeAudio } from '../audio/decode.js';
import {
  type PreparedAudio,
  type SpeechRecognizer,
} from '@switchyard/engine-api/speech-recognizer.js';
import { RECOGNIZER } from '../engines/worker-engine.js';
import { RecognitionLane } from './recognition-lane.js';
import { isDiarizedBeside, recognisedWithSpeakers } from './speaker-naming.js';
import {
  type SegmentSink,
  numberedSegments,
  TranscriptStitcher,
} from './transcript-stitcher.js';

export interface TranscriptAnswer {
  readonly transcript: Transcript;
  readonly execution: CallExecution;
}

export interface WholeFileOptions {
  readonly sink?: SegmentSink | undefined;
  /** Seconds decoded at most. */
  readonly mostS?: number;
}

interface Computation {
  readonly signal: AbortSignal;
  readonly mostS: number;
  readonly stitcher: TranscriptStitcher | undefined;
}

/**
 * The gateway sends a file whole when its headers claim less than a minute. Headers can
 * be wrong, above all with variable bit rates, but not by a factor of sixty.
 */
export const SHORT_FILE_S = 3600;

/** A call with its audio. */
type FileCall = TranscribeCallFields & { readonly audio: Buffer };

/** Whole files in memory: short ones, and those that an engine takes untouched. */
@Injectable()
export class RecognitionService {
  constructor(
    private readonly lane: RecognitionLane,
    @Inject(RECOGNIZER) private readonly engine: SpeechRecognizer,
    private readonly downloads: AudioDownload,
  ) {}

  /**
   * @param sink receives each segment once it is final: during the engine call if the
   *   engine reports it, else at the
   * end
   * @throws DomainError this call's own failure, or the abort's error once the
   *   work has stopped
   */
  async transcribe(
    call: TranscribeCallFields,
    signal: AbortSignal,
    { sink, mostS = SHORT_FILE_S }: WholeFileOptions = {},
  ): Promise<TranscriptAnswer> {
    const audio = await this.downloads.bytes(call.audio, signal);
    const { engine } = this;
    if (isDiarizedBeside(engine, call)) {
      const run = {
        engine,
        call,
        bytes: () => Promise.resolve(audio),
        mostS,
        signal,
        sink,
      };
      return recognisedWithSpeakers(run, (own, stop, held) =>
        this.transcribe(own, stop, { sink: held, mostS }),
      );
    }
    const stitcher =
      sink &&
      new TranscriptStitcher({ temperature: call.temperature, words: true, sink });
    const { value, execution } = await this.#compute(
      { ...call, audio },
      { signal, mostS, stitcher },
    ).catch((error: unknown) => {
      throw audio === call.audio ? error : aboutUrl(error);
    });
    const { transcript, durationS } = value;
    stitcher?.add(
      { index: 0, startS: 0, durationS, sharedBeforeS: 0, sharedAfterS: 0 },
      transcript,
    );
    const segments = numberedSegments(transcript, call.temperature);
    return { transcript: { ...transcript, durationS, segments }, execution };
  }

  #compute(call: FileCall, { signal, mostS, stitcher }: Computation) {
    const audio = (stop: AbortSignal) => this.#audio(call, stop, mostS);
    return this.lane.submit(
      { options: call, group: call.group, audio, onSegment: stitcher?.early(0, 0) },
      signal,
    );
  }

  /**
   * An engine that takes the untouched file, such as a remote one, does its own decoding.
   */
  async #audio(
    { audio: bytes, filename }: FileCall,
    signal: AbortSignal,
    mostS: number,
  ): Promise<PreparedAudio> {
    if (this.engine.input === 'encoded')
      return { kind: 'encoded', bytes, filename, durationS: 0 };
    return {
      kind: 'pcm',
      sampleRate: 16_000,
      ...(await decodeAudio(bytes, signal, mostS)),
    };
  }
}

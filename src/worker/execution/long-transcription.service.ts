import { Inject, Injectable } from '@nestjs/common';
import { type Chunking } from '../../contracts/formats/transcript.js';
import { type TranscribeCall } from '../../contracts/grpc/stt.codec.js';
import { DomainError } from '../../core/shared/domain-error.js';
import { decodedStream, longestOf, MAX_AUDIO_S } from '../audio/decoded-stream.js';
import { type ReceivedFile } from '../audio/received-file.js';
import { type CutRules, cutIntoWindows } from '../audio/window-cutter.js';
import { type SpeechRecognizer } from '../engines/engine.js';
import { RECOGNIZER } from '../engine.tokens.js';
import { LongRun } from './long-run.js';
import { RecognitionLane } from './recognition-lane.js';
import { type SegmentSink } from './transcript-stitcher.js';
import { type TranscriptAnswer, TranscriptionService } from './transcription.service.js';

/** What an engine is given at most when it says nothing: a window of Whisper's. */
const USUAL_WINDOW_S = 30;
/** OpenAI's own upload limit. */
const USUAL_FILE_BYTES = 26_214_400;

/** Files of any length: decoded as a stream and cut into windows, except for engines that want them whole. */
@Injectable()
export class LongTranscriptionService {
  constructor(
    private readonly lane: RecognitionLane,
    private readonly files: TranscriptionService,
    @Inject(RECOGNIZER) private readonly engine: SpeechRecognizer,
  ) {}

  /**
   * @param sink told each segment once it is final, in order of time.
   * @throws DomainError as `TranscriptionService.transcribe`; segments may have been told by then.
   */
  async transcribe(
    call: TranscribeCall,
    file: ReceivedFile,
    { signal, sink }: { readonly signal: AbortSignal; readonly sink?: SegmentSink },
  ): Promise<TranscriptAnswer> {
    if (file.size === 0) throw new DomainError('empty_file', 'The file has 0 bytes.', { param: 'file' });
    if (this.#wantsWhole(call, file)) {
      return this.files.transcribe({ ...call, audio: await file.bytes() }, signal, { sink, mostS: MAX_AUDIO_S });
    }
    const { lane, engine } = this;
    const windows = cutIntoWindows(
      decodedStream(file.handle, signal, longestOf(file.size)),
      this.#rules(call.chunking),
    );
    return new LongRun({ lane, engine, call, sink }).run(windows, signal);
  }

  /** Who speaks is known from the whole recording only: "A" of one window is not "A" of the next. */
  #wantsWhole({ diarize }: TranscribeCall, { size }: ReceivedFile): boolean {
    const { input, largestFileBytes = USUAL_FILE_BYTES } = this.engine;
    return diarize === true || (input === 'encoded' && size <= largestFileBytes);
  }

  #rules(chunking: Chunking | undefined): CutRules {
    const maxS = this.engine.longestItemS ?? USUAL_WINDOW_S;
    if (chunking === undefined) return { maxS, silenceS: 0.3, quietShare: QUIET_SHARE * 0.5 };
    return {
      maxS,
      silenceS: Math.min(maxS / 4, chunking.silenceDurationMs / 1000),
      quietShare: QUIET_SHARE * chunking.threshold,
      paddingS: chunking.prefixPaddingMs / 1000,
    };
  }
}

/** At a threshold of 1: 12 dB below the mean is silence; at the usual 0.5, 15 dB. */
const QUIET_SHARE = 0.06;

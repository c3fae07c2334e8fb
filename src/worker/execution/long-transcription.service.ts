import { Inject, Injectable } from '@nestjs/common';
import { bytesOf, RECOGNISER_RATE } from '@switchyard/engine-api/audio/pcm.js';
import { wavHeader } from '@switchyard/engine-api/audio/wav-header.js';
import {
  type PreparedAudio,
  type SpeechRecognizer,
  type VoiceActivityOptions,
} from '@switchyard/engine-api/speech-recognizer.js';
import { type CallExecution } from '@switchyard/worker-protocol/call.codec.js';
import { type TranscribeCallFields } from '@switchyard/worker-protocol/stt.codec.js';
import { decodedStream, emptyFile, MAX_AUDIO_S } from '../audio/decode.js';
import { type ReceivedFile } from '../audio/received-file.js';
import { type AudioWindow, cutIntoWindows } from '../audio/window-cutter.js';
import { ENGINE } from '../engines/worker-engine.js';
import { executionOfParts } from './execution-of-parts.js';
import { type RecognitionCall, RecognitionService } from './recognition.service.js';
import { recognisedWithSpeakers } from './speaker-naming.js';
import {
  type SegmentSink,
  type TranscriptAnswer,
  TranscriptStitcher,
} from './transcript-stitcher.js';

/** A window in the form that the engine takes: samples, or a WAV file. */
function windowAudio(
  { samples, durationS }: AudioWindow,
  input: PreparedAudio['kind'],
): PreparedAudio {
  if (input === 'pcm') return { kind: 'pcm', samples, sampleRate: RECOGNISER_RATE, durationS };
  const data = bytesOf(samples);
  const bytes = Buffer.concat([wavHeader(RECOGNISER_RATE, data.length), data]);
  return { kind: 'encoded', bytes, filename: 'window.wav', durationS };
}

/** More would only use memory: 32 windows of 30 s are 31 MB. */
const MOST_WINDOWS = 32;

/**
 * What one window adds to the time limit of its engine call, milliseconds at most: that of
 * a file of hours would hide a device that hangs from all others in the call.
 */
const WINDOW_LIMIT_MS = 600_000;

/**
 * One long file: its windows are queued while it is still being decoded, at most a group
 * on the device and one ahead, and return in order. The first failure ends it; no window
 * is left in the queue when it has ended.
 */
class LongRun {
  readonly #stitcher: TranscriptStitcher;
  readonly #failed = new AbortController();
  readonly #running = new Set<Promise<unknown>>();
  readonly #executions: CallExecution[] = [];

  constructor(
    private readonly files: RecognitionService,
    private readonly engine: SpeechRecognizer,
    private readonly call: RecognitionCall,
    private readonly sink?: SegmentSink,
  ) {
    const { temperature, wordTimestamps: words } = call;
    this.#stitcher = new TranscriptStitcher({ temperature, words, sink });
  }

  /**
   * @throws what `windows` throws, a window's failure, or the abort's error once all
   *   work has stopped
   */
  async run(windows: AsyncIterable<AudioWindow>, signal: AbortSignal): Promise<TranscriptAnswer> {
    try {
      await this.#all(windows, AbortSignal.any([signal, this.#failed.signal]));
      return { transcript: this.#stitcher.finish(), execution: executionOfParts(this.#executions) };
    } catch (error) {
      this.#failed.abort(error);
      throw error;
    } finally {
      await Promise.allSettled(this.#running);
    }
  }

  async #all(windows: AsyncIterable<AudioWindow>, signal: AbortSignal): Promise<void> {
    const settled: Promise<void>[] = [];
    for await (const window of windows) {
      if (settled.length >= this.#ahead()) await settled.shift();
      settled.push(this.#inOrder(window, this.#recognise(window, signal), settled.at(-1)));
    }
    await Promise.all(settled);
  }

  /**
   * A group on each of the device's lanes and one more, as the worker's slots
   * have it (D-24).
   */
  #ahead(): number {
    const { maxBatch, maxConcurrent } = this.engine.info;
    return Math.min(MOST_WINDOWS, maxBatch * (maxConcurrent + 1));
  }

  #recognise(window: AudioWindow, signal: AbortSignal) {
    const { engine, call, sink } = this;
    const { index, startS } = window;
    const shares = window.sharedBeforeS > 0 || window.sharedAfterS > 0;
    // Overlaps are joined by words with times.
    const wordTimestamps = call.wordTimestamps || (shares && canTimeWords(engine));
    const timeLimitMs = Math.min(WINDOW_LIMIT_MS, call.group.timeLimitMs ?? Infinity);
    // Only the first window counts as a member of the gateway's group.
    const own = index === 0 ? undefined : { id: `${call.requestId}#${index}`, size: 1 };
    const group = { ...call.group, ...own, timeLimitMs };
    const recognised = this.files.submit(
      {
        call: { ...call, wordTimestamps, group },
        flow: call.requestId,
        audio: () => Promise.resolve(windowAudio(window, engine.input)),
        onSegment: sink && !shares ? this.#stitcher.early(index, startS) : undefined,
      },
      signal,
    );
    this.#running.add(recognised);
    const over = (): unknown => this.#running.delete(recognised);
    void recognised.then(over, over);
    return recognised;
  }

  #inOrder(
    window: AudioWindow,
    recognised: ReturnType<RecognitionService['submit']>,
    before?: Promise<void>,
  ): Promise<void> {
    const { samples, ...place } = window;
    const added = (async () => {
      const [{ value, execution }] = await Promise.all([recognised, before]);
      free(samples);
      this.#executions.push(execution);
      this.#stitcher.add(place, value.transcript);
    })();
    // At once: while the file is still being decoded, the failure would be seen a
    // group too late.
    added.catch((error: unknown) => this.#failed.abort(error));
    return added;
  }
}

/**
 * At once: a window lives through several collections of young objects, and only a full
 * one would find it then, which V8 makes when 64 MiB of them wait. An engine may have
 * passed the memory on.
 */
function free({ buffer }: Int16Array): void {
  if (buffer instanceof ArrayBuffer && !buffer.detached) buffer.transfer(0);
}

const canTimeWords = ({ info }: SpeechRecognizer): boolean =>
  info.capabilities.includes('word_timestamps');

/** Longest item of engines that declare no limit: Whisper's window. */
const USUAL_WINDOW_S = 30;
/** OpenAI's own upload limit. */
const USUAL_FILE_BYTES = 26_214_400;

/**
 * Files of any length: decoded as a stream and cut into windows, except for engines that
 * take whole files.
 */
@Injectable()
export class LongTranscriptionService {
  constructor(
    private readonly files: RecognitionService,
    @Inject(ENGINE) private readonly engine: SpeechRecognizer,
  ) {}

  /**
   * @param sink receives each segment once it is final, in order of time
   * @throws DomainError as `TranscriptionService.transcribe`; segments may have been
   *   emitted by then
   */
  async transcribe(
    call: TranscribeCallFields,
    file: ReceivedFile,
    signal: AbortSignal,
    sink?: SegmentSink,
  ): Promise<TranscriptAnswer> {
    const { engine } = this;
    return recognisedWithSpeakers(
      { engine, call, bytes: () => file.bytes(), mostS: MAX_AUDIO_S, signal, sink },
      (own, stop, held) => this.#transcribed(own, file, stop, held),
    );
  }

  async #transcribed(
    call: TranscribeCallFields,
    file: ReceivedFile,
    signal: AbortSignal,
    sink?: SegmentSink,
  ): Promise<TranscriptAnswer> {
    if (file.size === 0) throw emptyFile();
    const { files, engine } = this;
    if (this.#wantsWhole(call, file)) {
      const audio = await file.bytes();
      return files.transcribe({ ...call, audio }, signal, { sink, mostS: MAX_AUDIO_S });
    }
    const windows = cutIntoWindows(
      decodedStream(file.handle, signal, file.size),
      this.#rules(call.chunking),
    );
    return new LongRun(files, engine, call, sink).run(windows, signal);
  }

  /**
   * Speakers are consistent within one recording only: "A" of one window is not "A"
   * of the next.
   */
  #wantsWhole({ diarize }: TranscribeCallFields, { size }: ReceivedFile): boolean {
    const { input, largestFileBytes = USUAL_FILE_BYTES } = this.engine;
    return diarize === true || (input === 'encoded' && size <= largestFileBytes);
  }

  #rules(chunking: VoiceActivityOptions | undefined) {
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

import { Inject, Injectable } from '@nestjs/common';
import { type CallExecution } from '../../contracts/grpc/call.codec.js';
import { type Transcript as AnsweredTranscript } from '../../contracts/formats/transcript.js';
import { type TranscribeCall } from '../../contracts/grpc/stt.codec.js';
import { WORKER_SPEC, type WorkerSpec } from '../../platform/config/worker-spec.js';
import { ProcessClock } from '../../platform/clock/monotonic-clock.js';
import { aboutUrl, AudioDownload } from '../audio/audio-download.js';
import { decodeAudio } from '../audio/decode.js';
import { type PreparedAudio, type SpeechRecognizer, type TranscribeItem, type Transcript } from '../engines/engine.js';
import { RECOGNIZER } from '../engine.tokens.js';
import { WorkerState } from '../lifecycle/worker-state.js';
import { BatchJournal } from './batch-journal.js';
import { MicroBatcher } from './micro-batcher.js';
import { segmentsOf } from './transcript-segments.js';
import { type WorkItem } from './work-item.js';

export interface TranscriptAnswer {
  readonly transcript: AnsweredTranscript;
  readonly execution: CallExecution;
}

interface Recognised {
  readonly transcript: Transcript;
  readonly durationS: number;
}

/** A call whose audio is here. */
type FileCall = TranscribeCall & { readonly audio: Buffer };

/** Files: decoded side by side, recognised in groups. */
@Injectable()
export class TranscriptionService {
  readonly #batcher: MicroBatcher<FileCall, TranscribeItem, Recognised>;

  constructor(
    @Inject(RECOGNIZER) private readonly engine: SpeechRecognizer,
    @Inject(WORKER_SPEC) spec: WorkerSpec,
    clock: ProcessClock,
    journal: BatchJournal,
    state: WorkerState,
    private readonly downloads: AudioDownload,
  ) {
    this.#batcher = new MicroBatcher({
      prepare: item => this.#prepare(item),
      compute: group => this.#recognise(group),
      limits: () => engine.info,
      prepParallel: spec.prepParallel,
      clock,
      journal,
      draining: () => state.phase === 'draining',
    });
  }

  /** @throws DomainError this call's own failure, or the abort's error once the work is let go. */
  async transcribe(call: TranscribeCall, signal: AbortSignal): Promise<TranscriptAnswer> {
    const audio = await this.downloads.bytes(call.audio, signal);
    const { value, execution } = await this.#compute({ ...call, audio }, signal).catch((error: unknown) => {
      throw audio === call.audio ? error : aboutUrl(error);
    });
    const { transcript, durationS } = value;
    const segments = segmentsOf(transcript, call.temperature);
    return { transcript: { ...transcript, durationS, segments }, execution };
  }

  #compute(input: FileCall, signal: AbortSignal) {
    const { requestId: id, priority, group } = input;
    return this.#batcher.submit({ id, priority, group, input, signal });
  }

  async #prepare({ input, signal }: WorkItem<FileCall>): Promise<TranscribeItem> {
    const audio = await this.#audio(input, signal);
    await this.engine.prepare?.(audio, signal);
    const { requestId, task, language, prompt, temperature, wordTimestamps, logprobs, diarize, hotWords } = input;
    const options = { task, language, prompt, temperature, wordTimestamps, logprobs, diarize, hotWords };
    return { requestId, audio, ...options, signal };
  }

  /** An engine that takes the untouched file, such as a remote one, does its own decoding. */
  async #audio({ audio: bytes, filename }: FileCall, signal: AbortSignal): Promise<PreparedAudio> {
    if (this.engine.input === 'encoded') return { kind: 'encoded', bytes, filename, durationS: 0 };
    return { kind: 'pcm', sampleRate: 16_000, ...(await decodeAudio(bytes, signal)) };
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

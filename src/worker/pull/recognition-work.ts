import { Inject, Injectable } from '@nestjs/common';
import { type EngineInfo } from '@switchyard/engine-api/engine.js';
import { invalidField } from '@switchyard/engine-api/field-problems.js';
import { type SpeechRecognizer } from '@switchyard/engine-api/speech-recognizer.js';
import {
  CAPABILITY_OF_OPTION,
  type QueueJob,
  type TranscriptionJob,
} from '@switchyard/shared-queue/job.codec.js';
import { encodeJobTranscript } from '@switchyard/shared-queue/result.codec.js';
import { type CallEnvelope } from '@switchyard/worker-protocol/call.codec.js';
import { maxWholeAudioBytes } from '@switchyard/worker-protocol/message-size.js';
import { abortError } from '../../core/errors/abort-error.js';
import { DomainError } from '../../core/errors/domain-error.js';
import { BlobStore } from '../../core/jobs/job.ports.js';
import { WorkerSpec } from '../../platform/config/worker-spec.js';
import { fileTooLarge } from '../../platform/storage/size-limit.js';
import { BlobMissing } from '../../platform/storage/storage-problems.js';
import { AudioDownload } from '../audio/audio-download.js';
import { ReceivedFile } from '../audio/received-file.js';
import { ENGINE } from '../engines/worker-engine.js';
import { LongTranscriptionService } from '../execution/long-transcription.service.js';
import { type RecognitionCall, RecognitionService } from '../execution/recognition.service.js';
import { type TranscriptAnswer } from '../execution/transcript-stitcher.js';
import { JobWork } from './job-work.js';

/** Gateways use the same limit between `TranscribeFile` and `TranscribeUpload`. */
const SHORT_S = 60;
/** Assumed for audio of unknown length, as in gateways: 16 kbit/s. */
const GUESSED_BYTES_PER_S = 2000;

/**
 * Transcriptions and translations, of audio by reference: a blob in the shared store, or a
 * URL (`fetch.*`).
 */
@Injectable()
export class RecognitionWork extends JobWork {
  constructor(
    private readonly spec: WorkerSpec,
    @Inject(ENGINE) protected readonly engine: SpeechRecognizer,
    private readonly short: RecognitionService,
    private readonly long: LongTranscriptionService,
    private readonly blobs: BlobStore,
    private readonly downloads: AudioDownload,
  ) {
    super();
  }

  async perform(job: QueueJob, envelope: CallEnvelope, signal: AbortSignal) {
    if (job.kind !== 'transcription' && job.kind !== 'translation') throw this.wrongKind(job);
    this.#assertAble(job);
    const fields = await this.#fields(job, envelope, signal);
    const { transcript, execution } = await this.#transcribe(job, fields, signal);
    return {
      value: {
        kind: 'transcript' as const,
        transcript: encodeJobTranscript(transcript),
      },
      execution,
    };
  }

  async #transcribe(
    job: TranscriptionJob,
    fields: RecognitionCall,
    signal: AbortSignal,
  ): Promise<TranscriptAnswer> {
    const { audio } = job;
    if ('blob' in audio && (await this.#isShort(job, audio.blob))) {
      const bytes = await this.#bytes(audio.blob, signal);
      return this.short.transcribe({ ...fields, audio: bytes }, signal);
    }
    const isNamed = 'url' in audio;
    const pieces = isNamed
      ? this.downloads.pieces(audio.url, signal)
      : this.#pieces(audio.blob, signal);
    await using file = await ReceivedFile.of(pieces, this.spec.uploadLimitBytes);
    const call = { ...fields, audio: isNamed ? audio : Buffer.alloc(0) };
    return await this.long.transcribe(call, file, signal);
  }

  async #isShort({ options: { durationS } }: TranscriptionJob, key: string): Promise<boolean> {
    const size = await this.#size(key);
    const seconds = durationS ?? size / GUESSED_BYTES_PER_S;
    return seconds <= SHORT_S && size <= maxWholeAudioBytes(this.spec.maxMessageBytes);
  }

  async #fields(
    { kind, options }: TranscriptionJob,
    envelope: CallEnvelope,
    signal: AbortSignal,
  ): Promise<RecognitionCall> {
    const { durationS: _, knownSpeakers, ...rest } = options;
    const voices = await Promise.all(
      knownSpeakers.map(async ({ name, blob }) => ({
        name,
        reference: await this.#bytes(blob, signal),
      })),
    );
    return {
      ...rest,
      ...envelope,
      task: kind === 'translation' ? 'translate' : 'transcribe',
      knownSpeakers: voices,
    };
  }

  #assertAble({ kind, options }: TranscriptionJob): void {
    this.assertAble('kind', 'translate', kind === 'translation');
    for (const [name, capability] of Object.entries(CAPABILITY_OF_OPTION)) {
      const value = options[name as keyof typeof CAPABILITY_OF_OPTION];
      const isGiven = Array.isArray(value) ? value.length > 0 : Boolean(value);
      this.assertAble(`options.${name}`, capability, isGiven);
    }
    assertLanguage(this.engine.info, options.language);
  }

  /** Bytes of a blob. @throws DomainError `file_not_found`, `file_too_large` */
  async #size(key: string): Promise<number> {
    const size = await this.blobs.size(key).catch((error: unknown) => {
      throw asAbsent(key, error);
    });
    if (size === undefined) throw missing(key);
    if (size > this.spec.uploadLimitBytes) throw fileTooLarge(this.spec.uploadLimitBytes);
    return size;
  }

  /** A blob in memory. @throws DomainError `file_not_found`; the abort's error */
  async #bytes(key: string, signal: AbortSignal): Promise<Buffer> {
    return Buffer.concat(await Array.fromAsync(this.#pieces(key, signal)));
  }

  async *#pieces(key: string, signal: AbortSignal): AsyncGenerator<Uint8Array> {
    try {
      for await (const piece of this.blobs.read(key)) {
        if (signal.aborted) throw abortError(signal);
        yield piece;
      }
    } catch (error) {
      throw asAbsent(key, error);
    }
  }
}

const missing = (key: string, cause?: unknown): DomainError =>
  new DomainError('file_not_found', `There is no audio ${key} in the blob store.`, {
    param: 'audio.blob',
    cause,
  });

/** An invalid key counts as a missing blob. */
const asAbsent = (key: string, error: unknown): unknown =>
  error instanceof BlobMissing || error instanceof RangeError ? missing(key, error) : error;

/**
 * @throws DomainError `invalid_value` when the engine does not recognise the language;
 *   regions are not compared
 */
function assertLanguage({ languages }: EngineInfo, language: string): void {
  if (language === '' || languages.length === 0) return;
  if (languages.some(known => baseOf(known) === baseOf(language))) return;
  const message = `\`language\` must be one the model recognises (${languages.join(', ')}); got "${language}".`;
  throw invalidField('options.language', message);
}

const baseOf = (tag: string): string => (tag.split('-', 1)[0] ?? '').toLowerCase();

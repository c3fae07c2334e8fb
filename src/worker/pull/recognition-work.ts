import { Inject, Injectable } from '@nestjs/common';
import { type CallEnvelope } from '../../contracts/grpc/call.codec.js';
import { encodeJobTranscript } from '../../contracts/queue-jobs/job-result.js';
import {
  CAPABILITY_OF_OPTION,
  type QueueJob,
  type TranscriptionJob,
} from '../../contracts/queue-jobs/queue-job.js';
import { maxWholeAudioBytes, WorkerSpec } from '../../platform/config/worker-spec.js';
import { aboutUrl } from '../audio/audio-download.js';
import { type EngineInfo } from '@switchyard/engine-api/engine.js';
import { type SpeechRecognizer } from '@switchyard/engine-api/speech-recognizer.js';
import { ENGINE } from '../engines/worker-engine.js';
import { LongTranscriptionService } from '../execution/long-transcription.service.js';
import {
  type RecognitionCall,
  RecognitionService,
} from '../execution/recognition.service.js';
import { invalidField } from '../../contracts/schema/field-problems.js';
import { type TranscriptAnswer } from '../execution/transcript-stitcher.js';
import { QueuedAudio } from './queued-audio.js';
import { assertAble, type JobAnswer, type JobWork, wrongKind } from './job-work.js';

/** Gateways use the same limit between `TranscribeFile` and `TranscribeUpload`. */
const SHORT_S = 60;
/** Assumed for audio of unknown length, as in gateways: 16 kbit/s. */
const GUESSED_BYTES_PER_S = 2000;

/** Transcriptions and translations. */
@Injectable()
export class RecognitionWork implements JobWork {
  constructor(
    private readonly spec: WorkerSpec,
    @Inject(ENGINE) private readonly engine: SpeechRecognizer,
    private readonly short: RecognitionService,
    private readonly long: LongTranscriptionService,
    private readonly audio: QueuedAudio,
  ) {}

  async perform(
    job: QueueJob,
    envelope: CallEnvelope,
    signal: AbortSignal,
  ): Promise<JobAnswer> {
    if (job.kind !== 'transcription' && job.kind !== 'translation')
      throw wrongKind(job, this.engine.kind);
    this.#assertAble(job);
    const fields = await this.#fields(job, envelope, signal);
    const { transcript, execution } = await this.#transcribe(job, fields, signal);
    return {
      value: { kind: 'transcript', transcript: encodeJobTranscript(transcript) },
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
      const bytes = await this.audio.bytes(audio.blob, signal);
      return this.short.transcribe({ ...fields, audio: bytes }, signal);
    }
    await using file = await this.audio.file(audio, signal);
    try {
      const call = { ...fields, audio: Buffer.alloc(0) };
      return await this.long.transcribe(call, file, { signal });
    } catch (error) {
      throw 'url' in audio ? aboutUrl(error) : error;
    }
  }

  async #isShort(
    { options: { durationS } }: TranscriptionJob,
    key: string,
  ): Promise<boolean> {
    const size = await this.audio.size(key);
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
        reference: await this.audio.bytes(blob, signal),
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
    const { info } = this.engine;
    assertAble(info, 'kind', 'translate', kind === 'translation');
    for (const [name, capability] of Object.entries(CAPABILITY_OF_OPTION)) {
      const value = options[name as keyof typeof CAPABILITY_OF_OPTION];
      const isGiven = Array.isArray(value) ? value.length > 0 : Boolean(value);
      assertAble(info, `options.${name}`, capability, isGiven);
    }
    assertLanguage(info, options.language);
  }
}

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

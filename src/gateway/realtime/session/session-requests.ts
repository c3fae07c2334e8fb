import { Readable } from 'node:stream';
import { Inject, Injectable } from '@nestjs/common';
import { PLAIN_TRANSCRIPTION } from '@switchyard/engine-api/speech-recognizer.js';
import { type Principal } from '../../../platform/auth/principal.js';
import { RequestPriority } from '../../../core/request/request-priority.js';
import { type Settlement } from '../../../core/request/settlement.js';
import { SETTINGS, type Settings } from '../../../platform/config/settings.js';
import { type KeyTerms } from '../../../core/access/key-terms.js';
import { ModelCatalog } from '../../models/model-catalog.js';
import { speechWork, parseSpeech } from '../../audio/parse-speech.js';
import { SpeechStream } from '../../audio/speech-stream.js';
import { InferenceService } from '../../inference/inference.service.js';
import { type SpokenText } from './session-actions.js';

/** Speech on its way. */
export interface Speech {
  /** PCM s16le mono at 24 kHz; destroyed with the error when the synthesis fails. */
  readonly audio: Readable;
  /** Never rejects. */
  readonly settled: Promise<Settlement>;
  cancel(): void;
}

/** What a session says in one utterance, for a model without live streams. */
interface UtteranceOrder {
  readonly id: string;
  readonly model: string;
  /** A whole file. */
  readonly wav: Buffer;
  readonly durationS: number;
  readonly language: string;
  readonly prompt: string;
  readonly owner: Principal;
}

/**
 * Requests of live sessions, through the scheduler at REALTIME priority and counted as
 * those of HTTP are: speech output, and utterances for models without live streams.
 */
@Injectable()
export class SessionRequests {
  constructor(
    private readonly catalog: ModelCatalog,
    private readonly inference: InferenceService,
    @Inject(SETTINGS) private readonly settings: Settings,
  ) {}

  /**
   * @throws DomainError about the text, the voice or the model, or
   *   `queue_full`, `shutting_down`.
   */
  speak(
    { id, text, voice, speed }: SpokenText,
    tenant: string,
    terms: KeyTerms | undefined,
  ): Speech {
    const body = {
      model: this.settings.realtime.speechModel,
      input: text,
      voice,
      speed,
      response_format: 'pcm',
    };
    const params = parseSpeech(body, this.catalog, this.settings.compat);
    const output = new SpeechStream(this.settings.speech.maxBufferedBytes);
    const caller = { id, tenant, terms, priority: RequestPriority.REALTIME };
    const speech = this.inference.start(caller, speechWork(params, output), { output });
    const settled = speech.settled.then(({ settlement }) => settlement);
    return { audio: output.audio, settled, cancel: () => speech.cancel('client') };
  }

  /** @throws DomainError, such as `queue_full` */
  recognise({ id, model, wav, durationS, owner, ...fields }: UtteranceOrder) {
    const { tenant, terms } = owner;
    const caller = { id, tenant, terms, priority: RequestPriority.REALTIME };
    const audio = {
      size: wav.length,
      bytes: () => Promise.resolve(wav),
      chunks: () => Readable.from([wav]),
      dispose: () => Promise.resolve(),
    };
    const file = {
      kind: 'transcribe',
      audio,
      durationS,
      filename: 'utterance.wav',
    } as const;
    const request = this.inference.start(caller, {
      ...{ model, bytes: wav.length, audioDurationS: durationS },
      payload: { ...PLAIN_TRANSCRIPTION, ...fields, ...file },
    });
    const transcript = request.answer('transcript').then(({ reply }) => reply.transcript);
    return { transcript, cancel: () => request.cancel('client') };
  }
}

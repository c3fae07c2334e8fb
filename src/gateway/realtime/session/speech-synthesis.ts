import { type Readable } from 'node:stream';
import { Inject, Injectable } from '@nestjs/common';
import { RequestPriority } from '../../../core/request/request-priority.js';
import { type Settlement } from '../../../core/request/settlement.js';
import { SETTINGS, type Settings } from '../../../platform/config/settings.js';
import { type KeyTerms } from '../../../core/access/key-terms.js';
import { ModelCatalog } from '../../models/model-catalog.js';
import { speechWork, parseSpeech } from '../../audio/parse-speech.js';
import { SpeechStream } from '../../audio/speech-stream.js';
import { InferenceService } from '../../inference/inference.service.js';
import { type SpokenText } from './effect.js';

/** Speech on its way. */
export interface Speech {
  /** PCM s16le mono at 24 kHz; destroyed with the error when the synthesis fails. */
  readonly audio: Readable;
  /** Never rejects. */
  readonly settled: Promise<Settlement>;
  cancel(): void;
}

/**
 * Speech output of live sessions: synthesis through the scheduler at REALTIME priority,
 * counted as HTTP speech is.
 */
@Injectable()
export class SpeechSynthesis {
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
}

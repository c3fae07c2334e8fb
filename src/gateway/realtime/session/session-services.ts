import { Injectable } from '@nestjs/common';
import { type SessionConfig } from '../../../contracts/realtime/session-config.js';
import { type KeyTerms } from '../../../core/access/key-terms.js';
import { RequestPriority } from '../../../core/request/request-priority.js';
import { Settings } from '../../../platform/config/settings.js';
import { parseSpeech, startSpeech } from '../../audio/start-speech.js';
import { InferenceService } from '../../inference/inference.service.js';
import { ModelCatalog } from '../../models/model-catalog.js';
import { WrittenForm } from '../../written-form/written-form.js';
import { Recognisers } from './recognisers.js';
import { type SpokenText } from './session-actions.js';
import { SessionActivity } from './session-activity.js';

/**
 * What every live session uses. What it speaks is a request at REALTIME priority, counted as
 * those of HTTP are.
 */
@Injectable()
export class SessionServices {
  constructor(
    readonly catalog: ModelCatalog,
    private readonly inference: InferenceService,
    readonly activity: SessionActivity,
    readonly settings: Settings,
    private readonly writtenForm: WrittenForm,
    readonly recognisers: Recognisers,
  ) {}

  /** Canonical id of the model that recognises. */
  modelOf({ model }: SessionConfig): string {
    return this.catalog.getOfKind(model, 'stt').id;
  }

  /**
   * Final text as it is written, as for files: by the model's `itn`, where the language is
   * known in advance.
   */
  written(spoken: string, { model, language }: SessionConfig): string {
    const { itn = false, languages } = this.catalog.get(model);
    const order = {
      wanted: itn,
      demanded: false,
      languages: language === '' ? languages : [language],
    };
    return this.writtenForm.ahead(order)?.(spoken) ?? spoken;
  }

  /**
   * @returns PCM s16le mono at 24 kHz, destroyed with the error when the synthesis fails,
   *   and the request that makes it
   * @throws DomainError about the text, the voice or the model, or
   *   `queue_full`, `shutting_down`.
   */
  speak({ id, text, voice, speed }: SpokenText, tenant: string, terms: KeyTerms | undefined) {
    const body = {
      model: this.settings.realtime.speechModel,
      input: text,
      voice,
      speed,
      response_format: 'pcm',
    };
    const params = parseSpeech(body, this.catalog.usableBy({ terms }), this.settings.compat);
    const caller = { id, tenant, terms, priority: RequestPriority.REALTIME };
    return startSpeech(this.inference, caller, params);
  }
}

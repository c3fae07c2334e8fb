import { Inject, Injectable } from '@nestjs/common';
import { type SessionConfig } from '../../../contracts/realtime/session-config.js';
import { SETTINGS, type Settings } from '../../../platform/config/settings.js';
import { ModelCatalog } from '../../models/model-catalog.js';
import { type StreamHandle } from '../../worker-pool/stream-handle.js';
import { WorkerPoolService } from '../../worker-pool/worker-pool.service.js';
import { WrittenForm } from '../../written-form/written-form.js';
import { SessionActivity } from './session-activity.js';
import { SpeechSynthesis } from './speech-synthesis.js';

/** What every live session uses. */
@Injectable()
export class SessionServices {
  constructor(
    readonly catalog: ModelCatalog,
    readonly synthesis: SpeechSynthesis,
    readonly activity: SessionActivity,
    @Inject(SETTINGS) readonly settings: Settings,
    private readonly pool: WorkerPoolService,
    private readonly writtenForm: WrittenForm,
  ) {}

  /** Canonical id of the model that recognises. */
  modelOf({ model }: SessionConfig): string {
    return this.catalog.getOfKind(model, 'stt').id;
  }

  /** Leases a streaming slot. @throws DomainError when there is none. */
  openStream(sessionId: string, model: string, config: SessionConfig): StreamHandle {
    const { language, prompt, turnDetection, format } = config;
    return this.pool.openStream(model, {
      sessionId,
      language,
      prompt,
      sampleRate: format.sampleRate,
      partials: true,
      ...(turnDetection && { voiceActivity: turnDetection }),
    });
  }

  /**
   * Its workers are running or starting, unless an operator unloaded it or
   * none can start.
   */
  loads(model: string): boolean {
    return !this.pool.isHeld(model) && this.pool.loadFailure(model) === undefined;
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
}

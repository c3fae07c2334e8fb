import { Inject, Injectable } from '@nestjs/common';
import { type SessionConfig } from '../../../contracts/realtime/session-config.js';
import { type Principal } from '../../../platform/auth/principal.js';
import { SETTINGS, type Settings } from '../../../platform/config/settings.js';
import { ModelCatalog } from '../../models/model-catalog.js';
import { type StreamHandle } from '../../worker-pool/stream-handle.js';
import { WorkerPoolService } from '../../worker-pool/worker-pool.service.js';
import { WrittenForm } from '../../written-form/written-form.js';
import { SessionActivity } from './session-activity.js';
import { SessionRequests } from './session-requests.js';
import { UtteranceStream } from './utterance-stream.js';

/** What every live session uses. */
@Injectable()
export class SessionServices {
  constructor(
    readonly catalog: ModelCatalog,
    readonly requests: SessionRequests,
    readonly activity: SessionActivity,
    @Inject(SETTINGS) readonly settings: Settings,
    private readonly pool: WorkerPoolService,
    private readonly writtenForm: WrittenForm,
  ) {}

  /** Canonical id of the model that recognises. */
  modelOf({ model }: SessionConfig): string {
    return this.catalog.getOfKind(model, 'stt').id;
  }

  /** Its workers take live streams; of others each utterance is a request. */
  streams(model: string): boolean {
    return this.catalog.get(model).capabilities.includes('stream');
  }

  /** Leases a streaming slot, if need be. @throws DomainError when there is none. */
  openStream(
    sessionId: string,
    model: string,
    config: SessionConfig,
    owner: Principal,
  ): StreamHandle {
    const { language, prompt, turnDetection, format } = config;
    if (!this.streams(model))
      return new UtteranceStream({
        sampleRate: format.sampleRate,
        voiceActivity: turnDetection ?? undefined,
        interim: this.#interim(model),
        recognise: (wav, durationS, name) =>
          this.requests.recognise({
            ...{ id: `${sessionId}.${name}`, model, wav, durationS },
            ...{ language, prompt, owner },
          }),
      });
    return this.pool.openStream(model, {
      sessionId,
      language,
      prompt,
      sampleRate: format.sampleRate,
      partials: true,
      ...(turnDetection && { voiceActivity: turnDetection }),
    });
  }

  #interim(model: string) {
    const { interimMs } = this.settings.realtime;
    if (interimMs === 0) return undefined;
    const isIdle = () => this.pool.model(model)?.running === 0;
    return { everyS: interimMs / 1000, isIdle };
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

import { Injectable, type OnModuleInit } from '@nestjs/common';
import { type RequestKey } from '../../../core/request/request-key.js';
import { Settings } from '../../../platform/config/settings.js';
import { DispatchEventBus } from '../../../platform/events/events.module.js';
import { ModelCatalog } from '../../models/model-catalog.js';
import { SchedulerService } from '../../scheduler/scheduler.service.js';
import { type RecognisedUtterance } from './utterance-stream.js';

/**
 * Requests that recognise an utterance while it is being spoken. Each is BATCH, starts only while
 * nothing else waits for its model, and is cancelled when this gateway accepts anything else for
 * it: a file or an utterance waits at most for the engine call that runs.
 */
@Injectable()
export class InterimPasses implements OnModuleInit {
  readonly #running = new Map<RequestKey, { readonly model: string; cancel(): void }>();

  constructor(
    private readonly events: DispatchEventBus,
    private readonly scheduler: SchedulerService,
    private readonly catalog: ModelCatalog,
    private readonly settings: Settings,
  ) {}

  onModuleInit(): void {
    this.events.on('accepted', ({ key, model }) => {
      if (this.#running.has(key)) return;
      for (const pass of this.#running.values()) if (pass.model === model) pass.cancel();
    });
  }

  /**
   * When a model has passes; undefined: never. A server behind `openai-http` has none: whether it
   * is idle is not known here, and it may charge for each.
   */
  of(model: string) {
    const { interimMs } = this.settings.realtime;
    if (interimMs === 0 || this.catalog.get(model).engine === 'openai-http') return undefined;
    return { everyS: interimMs / 1000, isIdle: () => this.scheduler.isIdle(model) };
  }

  /** @throws what `start` throws */
  run(model: string, key: RequestKey, start: () => RecognisedUtterance): RecognisedUtterance {
    let pass: RecognisedUtterance | undefined;
    this.#running.set(key, { model, cancel: () => pass?.cancel() });
    const ended = () => this.#running.delete(key);
    try {
      pass = start();
    } catch (error) {
      ended();
      throw error;
    }
    pass.transcript.then(ended, ended);
    return pass;
  }
}

import { Injectable, type OnModuleInit } from '@nestjs/common';
import { RunningPasses } from '../../../core/realtime/interim-schedule.js';
import { type RequestKey } from '../../../core/request/request-key.js';
import { Settings } from '../../../platform/config/settings.js';
import { DispatchEventBus } from '../../../platform/events/events.module.js';
import { ModelCatalog } from '../../models/model-catalog.js';
import { SchedulerService } from '../../scheduler/scheduler.service.js';
import { type RecognisedUtterance } from './utterance-stream.js';

/**
 * Requests that recognise an utterance while it is being spoken (`core/realtime/interim-schedule`
 * has the rule). Each is BATCH, and is cancelled when this gateway accepts anything else for its
 * model: a file or an utterance waits at most for the engine call that runs.
 */
@Injectable()
export class InterimPasses implements OnModuleInit {
  readonly #running = new RunningPasses();
  readonly #passes = new Map<RequestKey, RecognisedUtterance>();

  constructor(
    private readonly events: DispatchEventBus,
    private readonly scheduler: SchedulerService,
    private readonly catalog: ModelCatalog,
    private readonly settings: Settings,
  ) {}

  onModuleInit(): void {
    this.events.on('accepted', accepted => {
      for (const key of this.#running.displacedBy(accepted)) this.#passes.get(key)?.cancel();
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
    // Before it starts: it is accepted meanwhile.
    this.#running.began(key, model);
    const ended = () => {
      this.#running.ended(key);
      this.#passes.delete(key);
    };
    try {
      const pass = start();
      this.#passes.set(key, pass);
      pass.transcript.then(ended, ended);
      return pass;
    } catch (error) {
      ended();
      throw error;
    }
  }
}

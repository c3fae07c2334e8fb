import {
  Injectable,
  Logger,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
} from '@nestjs/common';
import { JobEvents } from '@switchyard/shared-queue/client/job-events.js';
import { Admission } from '../../core/queue/admission.js';
import { ProcessClock } from '../../platform/clock/process-clock.js';
import { ModelList } from '../../platform/config/config.module.js';
import { SharedQueueLink } from './shared-queue-link.js';

/**
 * What happens in the queues of all models. What Redis lost with its memory is found by
 * `SharedRequests`.
 */
@Injectable()
export class QueueEvents
  extends JobEvents
  implements OnApplicationBootstrap, OnApplicationShutdown
{
  readonly #enabled: boolean;

  constructor(
    link: SharedQueueLink,
    private readonly models: ModelList,
    private readonly admission: Admission,
    private readonly processClock: ProcessClock,
  ) {
    super(link, new Logger('JobEvents'));
    this.#enabled = link.enabled;
  }

  onApplicationBootstrap(): void {
    if (!this.#enabled) return;
    this.models.changes$.subscribe(({ added }) => added.forEach(id => this.listen(id)));
    // What is taken leaves the queue for all gateways: its bounds and the places in it
    // are those of all.
    this.events$.subscribe(({ event, model }) => {
      if (event === 'active') this.admission.drained(model, this.processClock.nowMs());
    });
    this.start(this.models.current.map(({ id }) => id));
  }

  onApplicationShutdown(): Promise<void> {
    return this.close();
  }
}

import { Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { Subscription } from 'rxjs';
import { WorkerPoolService } from '../worker-pool/worker-pool.service.js';
import { RequestCanceller } from './request-canceller.js';
import { RequestFailures } from './request-failures.js';
import { RequestRegistry } from './request-registry.js';

/** Requests that wait for a model end at once when it turns out that no worker of it can start. */
@Injectable()
export class LoadFailures implements OnApplicationBootstrap, OnApplicationShutdown {
  #activity = Subscription.EMPTY;

  constructor(
    private readonly pool: WorkerPoolService,
    private readonly registry: RequestRegistry,
    private readonly failures: RequestFailures,
    private readonly canceller: RequestCanceller,
  ) {}

  onApplicationBootstrap(): void {
    this.#activity = this.pool.activity$.subscribe(event => {
      // Not at once: a turn of the dispatcher may have asked for the workers.
      if (event.type === 'load_failed') setImmediate(() => this.#refuse(event.model));
    });
  }

  onApplicationShutdown(): void {
    this.#activity.unsubscribe();
  }

  #refuse(model: string): void {
    const waiting = this.registry
      .live()
      .filter(tracked => tracked.request.model === model && tracked.lifecycle.workerId === undefined)
      .filter(tracked => this.failures.unserved(tracked) !== undefined);
    void this.canceller.cancelAll(
      waiting.map(({ key }) => key),
      'load_failed',
    );
  }
}

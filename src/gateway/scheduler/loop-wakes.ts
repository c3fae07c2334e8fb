import { Injectable } from '@nestjs/common';
import { filter, map, merge, type Observable } from 'rxjs';
import { WindowTimers } from '../../core/batching/window-timers.js';
import { DispatchEventBus } from '../../platform/events/dispatch-event-bus.js';
import { WorkerPoolService } from '../worker-pool/worker-pool.service.js';

/** Everything that can make a decision possible: more work, more capacity, or an instant that was waited for. */
@Injectable()
export class LoopWakes {
  readonly wakes$: Observable<void>;

  constructor(
    events: DispatchEventBus,
    pool: WorkerPoolService,
    private readonly timers: WindowTimers,
  ) {
    const work$ = events.events$.pipe(filter(({ type }) => type === 'accepted' || type === 'requeued'));
    this.wakes$ = merge(work$, pool.capacity$, timers.wakes$).pipe(map(() => undefined));
  }

  /** Monotonic instant of the next wake; undefined: none. */
  at(atMs: number | undefined): void {
    this.timers.wakeAt(atMs);
  }

  stop(): void {
    this.timers.stop();
  }
}

import { Inject, Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { interval, type Subscription } from 'rxjs';
import { LatencyTracker } from '../../core/latency/latency-tracker.js';
import { ProcessClock } from '../../platform/clock/clock.module.js';
import { SETTINGS, type Settings } from '../../platform/config/settings.js';

/** Removes latency entries whose TTL passed, every `latency.sweep_ms` (D-11). */
@Injectable()
export class LatencySweepTimer implements OnApplicationBootstrap, OnModuleDestroy {
  #subscription: Subscription | undefined;

  constructor(
    private readonly tracker: LatencyTracker,
    private readonly clock: ProcessClock,
    @Inject(SETTINGS) private readonly settings: Settings,
  ) {}

  get running(): boolean {
    return this.#subscription !== undefined;
  }

  onApplicationBootstrap(): void {
    this.#subscription ??= interval(this.settings.latency.sweepMs).subscribe(() => {
      this.tracker.sweep(this.clock.nowMs());
    });
  }

  onModuleDestroy(): void {
    this.stop();
  }

  stop(): void {
    this.#subscription?.unsubscribe();
    this.#subscription = undefined;
  }
}

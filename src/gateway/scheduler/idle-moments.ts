import { Injectable, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { type Subscription } from 'rxjs';
import { DispatchEventBus } from '../../platform/events/events.module.js';
import { IdleGc } from '../../platform/process/idle-gc.js';

/** Tells the collector of garbage when something happens to a request; the rest of the time is a pause. */
@Injectable()
export class IdleMoments implements OnModuleInit, OnApplicationShutdown {
  #subscription: Subscription | undefined;

  constructor(
    private readonly events: DispatchEventBus,
    private readonly collector: IdleGc,
  ) {}

  onModuleInit(): void {
    this.#subscription = this.events.events$.subscribe(() => this.collector.touched());
  }

  onApplicationShutdown(): void {
    this.#subscription?.unsubscribe();
  }
}

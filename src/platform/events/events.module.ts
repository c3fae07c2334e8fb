import { Global, Module } from '@nestjs/common';
import { DispatchEventBus } from './dispatch-event-bus.js';

/** One bus for the process: who emits and who listens never meet. */
@Global()
@Module({ providers: [DispatchEventBus], exports: [DispatchEventBus] })
export class EventsModule {}

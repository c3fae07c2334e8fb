import {
  Global,
  Injectable,
  Logger,
  Module,
  type OnApplicationShutdown,
  type OnModuleInit,
} from '@nestjs/common';
import { config as rxjsConfig, Subject, type Subscription } from 'rxjs';
import type { DispatchEvent, EventOf } from '../../core/dispatch/dispatch-event.js';

/**
 * What happened to requests, in order (D-23). Metrics, logs and the live feed subscribe
 * here and to nothing else.
 *
 * A subscriber that throws is on its own: rxjs keeps its error from the emitter and from
 * its neighbours, and this bus logs it. Without the hook rxjs would throw it again from a
 * timer, and one bad listener would end the process.
 */
@Injectable()
export class DispatchEventBus implements OnModuleInit, OnApplicationShutdown {
  readonly #logger = new Logger(DispatchEventBus.name);
  readonly #subject = new Subject<DispatchEvent>();
  readonly #byType = new Map<DispatchEvent['type'], Subject<DispatchEvent>>();

  /** Hot: a subscriber sees events from now on. Completes when the application closes. */
  readonly events$ = this.#subject.asObservable();

  /** Calls `listener` with the events of one type, after the subscribers of all. */
  on<T extends DispatchEvent['type']>(
    type: T,
    listener: (event: EventOf<T>) => void,
  ): Subscription {
    const subject = this.#byType.get(type) ?? new Subject();
    this.#byType.set(type, subject);
    return subject.subscribe(listener as (event: DispatchEvent) => void);
  }

  /** Synchronous: when it returns, every subscriber has seen the event. Never throws. */
  emit(event: DispatchEvent): void {
    this.#subject.next(event);
    this.#byType.get(event.type)?.next(event);
  }

  /**
   * The hook stays when the application has gone: rxjs reports from a timer, and the last
   * report must not end the process.
   */
  onModuleInit(): void {
    rxjsConfig.onUnhandledError = error => this.#report(error);
  }

  /**
   * The named stop. Not `onModuleDestroy`: that runs before the drain, whose events must
   * still be heard.
   */
  onApplicationShutdown(): void {
    this.#subject.complete();
    for (const subject of this.#byType.values()) subject.complete();
  }

  #report(error: unknown) {
    this.#logger.error({ err: error }, 'a subscriber threw; the others and the emitter went on');
  }
}

/** One bus for the process: who emits and who listens never meet. */
@Global()
@Module({ providers: [DispatchEventBus], exports: [DispatchEventBus] })
export class EventsModule {}

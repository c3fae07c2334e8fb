import { randomUUID } from 'node:crypto';
import { Global, Injectable, Module } from '@nestjs/common';
import { type MonotonicClock } from '../../core/batching/window-timers.js';

/**
 * Milliseconds since this process started, with fractions; unaffected by changes of
 * the wall clock.
 */
@Injectable()
export class ProcessClock implements MonotonicClock {
  nowMs(): number {
    return performance.now();
  }
}

/** Names this process: a restarted gateway has another id and counts from the start. */
@Injectable()
export class GatewayIdentity {
  readonly id = `gw_${randomUUID().slice(0, 8)}`;
  /** Unix milliseconds. */
  readonly startedAtMs = Date.now();
}

/** One clock for the whole process: stamps from two clocks cannot be compared. */
@Global()
@Module({
  providers: [ProcessClock, GatewayIdentity],
  exports: [ProcessClock, GatewayIdentity],
})
export class ClockModule {}

import { Global, Injectable, Module } from '@nestjs/common';
import { type MonotonicClock } from '../../core/shared/monotonic-clock.js';

/** Milliseconds since this process started, with fractions; unaffected by changes of the wall clock. */
@Injectable()
export class ProcessClock implements MonotonicClock {
  nowMs(): number {
    return performance.now();
  }
}

/** One clock for the whole process: stamps from two clocks cannot be compared. */
@Global()
@Module({ providers: [ProcessClock], exports: [ProcessClock] })
export class ClockModule {}

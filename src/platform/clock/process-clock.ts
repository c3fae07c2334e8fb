import { Injectable } from '@nestjs/common';
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

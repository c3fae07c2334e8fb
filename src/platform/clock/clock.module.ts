import { Global, Module } from '@nestjs/common';
import { ProcessClock } from './monotonic-clock.js';

/** One clock for the whole process: stamps from two clocks cannot be compared. */
@Global()
@Module({ providers: [ProcessClock], exports: [ProcessClock] })
export class ClockModule {}

import { Module } from '@nestjs/common';
import { ServiceTimes } from '../../core/latency/service-times.js';
import { callDuration } from './latency.metrics.js';

/** How long workers take: measured, learned, and told to callers. */
@Module({ providers: [ServiceTimes, callDuration], exports: [ServiceTimes] })
export class LatencyModule {}

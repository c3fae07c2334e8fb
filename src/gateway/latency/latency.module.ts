import { Module } from '@nestjs/common';
import { callDuration } from './latency.metrics.js';

/** How long workers took: each request's phases are in its record. */
@Module({ providers: [callDuration] })
export class LatencyModule {}

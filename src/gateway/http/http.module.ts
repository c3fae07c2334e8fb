import { Module } from '@nestjs/common';
import { APP_FILTER, APP_PIPE } from '@nestjs/core';
import { DescriptorWatch } from '../../platform/process/descriptor-watch.js';
import { FieldsPipe } from './dto-validation.js';
import { OpenAiExceptionFilter } from './error-reply.js';
import { IntakeGate } from './intake-gate.js';
import { RequestTraces } from './request-traces.js';

/**
 * What every route shares: errors in OpenAI's envelope, checked bodies and queries, and
 * the gate that shutdown closes.
 */
@Module({
  providers: [
    DescriptorWatch,
    IntakeGate,
    RequestTraces,
    { provide: APP_FILTER, useClass: OpenAiExceptionFilter },
    { provide: APP_PIPE, useClass: FieldsPipe },
  ],
  exports: [IntakeGate],
})
export class HttpModule {}

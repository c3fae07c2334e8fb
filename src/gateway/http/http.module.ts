import { Module } from '@nestjs/common';
import { APP_FILTER } from '@nestjs/core';
import { OpenAiExceptionFilter } from './error-reply.js';
import { HttpErrors, httpErrorProviders } from './http-errors.metrics.js';
import { IntakeGate } from './intake-gate.js';
import { RequestTraces } from './request-traces.js';

/** What every route shares: errors in OpenAI's envelope, and the gate that shutdown closes. */
@Module({
  providers: [
    IntakeGate,
    RequestTraces,
    ...httpErrorProviders,
    { provide: APP_FILTER, useClass: OpenAiExceptionFilter },
  ],
  exports: [IntakeGate, HttpErrors],
})
export class HttpModule {}

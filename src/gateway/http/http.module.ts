import { Module } from '@nestjs/common';
import { APP_FILTER } from '@nestjs/core';
import { OpenAiExceptionFilter } from './error-reply.js';
import { IntakeGate } from './intake-gate.js';

/** What every route shares: errors in OpenAI's envelope, and the gate that shutdown closes. */
@Module({
  providers: [IntakeGate, { provide: APP_FILTER, useClass: OpenAiExceptionFilter }],
  exports: [IntakeGate],
})
export class HttpModule {}

import { Inject, Injectable } from '@nestjs/common';
import { SpanStatusCode, type Tracer } from '@opentelemetry/api';
import { type BatchJob } from '../../../core/jobs/batch-job.js';
import { TRACER } from '../../../platform/tracing/tracing.js';
import { contextAfter, traceparentOf } from '../../../platform/tracing/tracing.module.js';

/** The API's part of a batch's trace: it continues the caller's, and the processor's `process-batch` continues it. */
@Injectable()
export class BatchTraces {
  constructor(@Inject(TRACER) private readonly tracer: Tracer) {}

  /** @param caller the request's `traceparent`. @param create is given what the job keeps. */
  async created(
    caller: string | undefined,
    create: (traceparent: string | undefined) => Promise<BatchJob>,
  ): Promise<BatchJob> {
    const span = this.tracer.startSpan('create-batch', {}, contextAfter(caller));
    try {
      const job = await create(traceparentOf(span.spanContext()));
      span.setAttributes({ 'batch.id': job.id, 'tenant.id': job.tenant, 'file.id': job.inputFileId });
      return job;
    } catch (error) {
      span.setStatus({ code: SpanStatusCode.ERROR, message: (error as Error).message });
      throw error;
    } finally {
      span.end();
    }
  }
}

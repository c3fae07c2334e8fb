import { AsyncLocalStorage } from 'node:async_hooks';
import { Inject, Injectable } from '@nestjs/common';
import { type Attributes, ROOT_CONTEXT, type Span, SpanStatusCode, trace, type Tracer } from '@opentelemetry/api';
import { type BatchJob } from '../../core/jobs/batch-job.js';
import { TRACER } from '../../platform/tracing/tracing.js';
import { contextAfter } from '../../platform/tracing/traceparent.js';

export type StorageStep = 'storage.Store' | 'storage.Retrieve' | 'storage.Delete';

/**
 * One span per stay of a batch in a processor, `process-batch`, in the trace of the request that made it, and below it what the
 * blob store is asked (seeds/batch-processor "Tracing").
 */
@Injectable()
export class JobTraces {
  readonly #current = new AsyncLocalStorage<Span>();

  constructor(@Inject(TRACER) private readonly tracer: Tracer) {}

  /** @param outcome the job after the walk; undefined: it was handed over, which is a span of its own that outlives this one */
  async job<T>(job: BatchJob, walk: () => Promise<T>, outcome: () => BatchJob | undefined): Promise<T> {
    const attributes = { 'batch.id': job.id, 'tenant.id': job.tenant, 'file.id': job.inputFileId };
    const span = this.tracer.startSpan('process-batch', { attributes }, contextAfter(job.traceparent));
    try {
      return await this.#current.run(span, walk);
    } catch (error) {
      failed(span, error);
      throw error;
    } finally {
      const ended = outcome();
      if (ended) span.setAttributes(endAttributes(ended));
      else
        this.tracer.startSpan('re-enqueue', { attributes, root: true, links: [{ context: span.spanContext() }] }).end();
      span.end();
    }
  }

  async step<T>(name: StorageStep, key: string, work: () => Promise<T>): Promise<T> {
    const parent = this.#current.getStore();
    const context = parent ? trace.setSpan(ROOT_CONTEXT, parent) : ROOT_CONTEXT;
    const span = this.tracer.startSpan(name, { attributes: { 'storage.key': key } }, context);
    try {
      return await work();
    } catch (error) {
      failed(span, error);
      throw error;
    } finally {
      span.end();
    }
  }

  /** Something went wrong on the way and the walk goes on. */
  trouble(error: unknown): void {
    const span = this.#current.getStore();
    if (span) failed(span, error);
  }
}

function failed(span: Span, error: unknown): void {
  span.recordException(error as Error);
  span.setStatus({ code: SpanStatusCode.ERROR, message: (error as Error).message });
}

const endAttributes = ({ counts, outputFileId, errorFileId }: BatchJob): Attributes => ({
  'batch.request.total': counts.total,
  'batch.request.completed': counts.completed,
  'batch.request.failed': counts.failed,
  ...(outputFileId === undefined ? {} : { 'batch.output_file.id': outputFileId }),
  ...(errorFileId === undefined ? {} : { 'batch.error_file.id': errorFileId }),
});

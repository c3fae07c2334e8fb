import { AsyncLocalStorage } from 'node:async_hooks';
import { Inject, Injectable } from '@nestjs/common';
import {
  type Attributes,
  ROOT_CONTEXT,
  type Span,
  SpanStatusCode,
  trace,
  type Tracer,
} from '@opentelemetry/api';
import { type BatchJob } from '../../core/jobs/batch-job.js';
import { contextAfter, TRACER } from '../../platform/tracing/tracing.module.js';

/**
 * One span `process-batch` per claim of a batch, in the trace of the request that created
 * it, with child spans for blob store operations.
 */
@Injectable()
export class JobTraces {
  readonly #current = new AsyncLocalStorage<Span>();

  constructor(@Inject(TRACER) private readonly tracer: Tracer) {}

  /**
   * @param outcome the ended job; undefined after a hand-over, which gets a
   *   linked span `re-enqueue`
   */
  async job<T>(
    job: BatchJob,
    run: () => Promise<T>,
    outcome: () => BatchJob | undefined,
  ): Promise<T> {
    const attributes = {
      'batch.id': job.id,
      'tenant.id': job.tenant,
      'file.id': job.inputFileId,
    };
    const span = this.tracer.startSpan(
      'process-batch',
      { attributes },
      contextAfter(job.traceparent),
    );
    try {
      return await this.#current.run(span, run);
    } catch (error) {
      failed(span, error);
      throw error;
    } finally {
      const ended = outcome();
      if (ended) span.setAttributes(endAttributes(ended));
      else
        this.tracer
          .startSpan('re-enqueue', {
            attributes,
            root: true,
            links: [{ context: span.spanContext() }],
          })
          .end();
      span.end();
    }
  }

  async step<T>(
    name: 'storage.Store' | 'storage.Retrieve' | 'storage.Delete',
    key: string,
    work: () => Promise<T>,
  ): Promise<T> {
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

  /** Records an error that is retried. */
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
  'batch.output_file.id': outputFileId,
  'batch.error_file.id': errorFileId,
});

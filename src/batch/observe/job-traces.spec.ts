import { expect, it } from '@jest/globals';
import { SpanStatusCode } from '@opentelemetry/api';
import {
  TracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace';
import { type BatchJob } from '../../core/jobs/batch-job.js';
import { JobTraces } from './job-traces.js';

it('a batch that breaks off has a failed span, with the failed step below it, and one that follows', async () => {
  const exporter = new InMemorySpanExporter();
  const provider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] });
  const traces = new JobTraces(provider.getTracer('test'));
  const job = { id: 'batch_1', tenant: 't', inputFileId: 'file_1' } as BatchJob;
  const broken = () =>
    traces.step('storage.Retrieve', 'key', () => Promise.reject(new Error('disk')));
  await expect(traces.job(job, broken, () => undefined)).rejects.toThrow('disk');
  const spans = exporter.getFinishedSpans();
  expect(spans.map(({ name, status }) => [name, status.code])).toEqual([
    ['storage.Retrieve', SpanStatusCode.ERROR],
    ['re-enqueue', SpanStatusCode.UNSET],
    ['process-batch', SpanStatusCode.ERROR],
  ]);
  const [step, again, whole] = spans;
  expect(step!.parentSpanContext?.spanId).toBe(whole!.spanContext().spanId);
  expect(again!.links.map(({ context }) => context.spanId)).toEqual([whole!.spanContext().spanId]);
});

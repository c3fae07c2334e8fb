import { expect, it } from '@jest/globals';
import { SpanStatusCode } from '@opentelemetry/api';
import {
  TracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace';
import { type BatchJob } from '../../core/jobs/batch-job.js';
import { JobTraces } from './job-traces.js';

const recorded = () => {
  const exporter = new InMemorySpanExporter();
  const provider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] });
  return { exporter, traces: new JobTraces(provider.getTracer('test')) };
};

it('a batch that ends has one span with its outcome, and with what was tried again below it', async () => {
  const { exporter, traces } = recorded();
  const counts = { total: 3, completed: 2, failed: 1 };
  const files = { outputFileId: 'file_2', errorFileId: 'file_3' };
  const job = { id: 'batch_1', tenant: 't', inputFileId: 'file_1', counts, ...files } as BatchJob;
  const run = async () => {
    traces.trouble(new Error('once'));
    return traces.step('storage.Store', 'key', () => Promise.resolve('stored'));
  };
  expect(await traces.job(job, run, () => job)).toBe('stored');
  const [step, whole, ...others] = exporter.getFinishedSpans();
  expect(others).toEqual([]);
  expect([step!.name, step!.attributes, step!.status.code]).toEqual([
    ...['storage.Store', { 'storage.key': 'key' }, SpanStatusCode.UNSET],
  ]);
  expect(whole!.attributes).toEqual({
    ...{ 'batch.id': 'batch_1', 'tenant.id': 't', 'file.id': 'file_1' },
    ...{ 'batch.request.total': 3, 'batch.request.completed': 2, 'batch.request.failed': 1 },
    ...{ 'batch.output_file.id': 'file_2', 'batch.error_file.id': 'file_3' },
  });
  expect(whole!.status).toEqual({ code: SpanStatusCode.ERROR, message: 'once' });
  expect(whole!.events.map(({ name }) => name)).toEqual(['exception']);
});

it('a step outside of a batch, and its trouble, are no part of one', async () => {
  const { exporter, traces } = recorded();
  traces.trouble(new Error('nobody asked'));
  await traces.step('storage.Delete', 'key', () => Promise.resolve());
  const spans = exporter.getFinishedSpans();
  expect(spans.map(({ name, parentSpanContext }) => [name, parentSpanContext])).toEqual([
    ['storage.Delete', undefined],
  ]);
});

it('a batch that breaks off has a failed span, with the failed step below it, and one that follows', async () => {
  const { exporter, traces } = recorded();
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
  expect(again!.parentSpanContext).toBeUndefined();
  expect(step!.events.map(({ name }) => name)).toEqual(['exception']);
  expect(again!.links.map(({ context }) => context.spanId)).toEqual([whole!.spanContext().spanId]);
});

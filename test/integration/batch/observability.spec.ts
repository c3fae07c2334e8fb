import { once } from 'node:events';
import { describe, expect, it } from '@jest/globals';
import { BatchHarness, chatLine } from '../../support/batch-harness.js';
import { freePort } from '../../support/free-port.js';
import { MetricsScrape } from '../../support/metrics-scrape.js';
import { type OtlpSpan, spansIn } from '../../support/otlp.js';
import { TargetServer } from '../../support/target-server.js';

describe('a processor', () => {
  it('serves its metrics at the set address: batches, lines, tokens, and gauges read at the scrape', async () => {
    await using target = await TargetServer.start();
    const port = await freePort();
    await using harness = await BatchHarness.towards(target, {
      'batch.metrics_port': port,
      'batch.metrics_host': '127.0.0.2',
    });
    const job = await harness.submit(['a', 'b', 'c'].map(id => chatLine(id)));
    harness.start();
    await harness.untilEnd(job.id);
    const read = async (): Promise<string> =>
      (await fetch(`http://127.0.0.2:${port}/metrics`)).text();
    let text = await read();
    // The row ends before the processor is through with the batch.
    while (!text.includes('jobs_processed_total{result="success",reason="none"} 1'))
      text = await read();
    const scrape = new MetricsScrape(text);
    expect(scrape.sum('batch_request_prompt_tokens_total')).toBe(9);
    expect(scrape.sum('total_workers')).toBe(4);
    expect(scrape.sum('processor_max_inflight_concurrency')).toBe(100);
    expect(text).toContain('batch_jobs{status="completed"} 1');
    expect(text).toContain('le="86400"');
    expect(text).toContain('model="other"');
    expect(scrape.sum('file_storage_operations_total')).toBe(2);
  });

  it('answers its gateway over IPC with its own metrics, and none of the process', async () => {
    await using target = await TargetServer.start();
    await using harness = await BatchHarness.towards(target);
    const processor = harness.start();
    await processor.message('ready');
    const answer = processor.message<{ type: 'metrics'; text: string }>('metrics');
    processor.child.send({ type: 'metrics' });
    const { text } = await answer;
    expect(text).toContain('total_workers 4');
    expect(text).not.toContain('process_cpu');
  });

  it('wakes by IPC: a batch need not wait for the next poll', async () => {
    await using target = await TargetServer.start();
    await using harness = await BatchHarness.towards(target, { 'batch.poll_ms': 3_600_000 });
    const processor = harness.start();
    await processor.message('ready');
    const job = await harness.submit([chatLine('a')]);
    processor.child.send({ type: 'wake' });
    expect((await harness.untilEnd(job.id)).status).toBe('completed');
  });

  it('ends with its gateway, and releases its leases', async () => {
    await using target = await TargetServer.start(() => new Promise(() => undefined));
    await using harness = await BatchHarness.towards(target, { 'batch.lease_ms': 600_000 });
    const job = await harness.submit([chatLine('a')]);
    const processor = harness.start();
    await harness.until(job.id, 'a line in flight', () => target.calls.length === 1);
    processor.child.disconnect();
    expect(await once(processor.child, 'exit')).toEqual([0, null]);
    expect(await harness.claims.claim('me', 1000)).toMatchObject({
      job: { id: job.id },
      epoch: 2,
    });
  });

  it('traces a batch in the trace of its request: process-batch with its counts, and the storage it used', async () => {
    await using target = await TargetServer.start();
    await using collector = await TargetServer.start();
    await using harness = await BatchHarness.open({
      settings: { 'batch.gateway_url': target.url },
      environment: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url },
    });
    const [traceId, spanId] = ['4b'.repeat(16), 'f0'.repeat(8)];
    const job = await harness.submit([chatLine('a'), chatLine('b')], {
      traceparent: `00-${traceId}-${spanId}-01`,
    });
    const processor = harness.start();
    const ended = await harness.untilEnd(job.id);
    processor.child.kill('SIGTERM');
    await once(processor.child, 'exit');
    const spans = spansIn(collector.calls);
    const root = spans.find(({ name }) => name === 'process-batch')!;
    expect(root).toMatchObject({ traceId, parentSpanId: spanId });
    expect(target.calls.map(({ headers }) => headers['x-switchyard-trace-link'])).toEqual([
      job.traceparent,
      job.traceparent,
    ]);
    expect(attributesOf(root)).toMatchObject({
      'batch.id': job.id,
      'tenant.id': 'default',
      'file.id': job.inputFileId,
      'batch.output_file.id': ended.outputFileId,
      'batch.request.total': 2,
      'batch.request.completed': 2,
      'batch.request.failed': 0,
    });
    const children = spans.filter(({ parentSpanId }) => parentSpanId === root.spanId);
    expect(children.map(({ name }) => name)).toEqual(['storage.Retrieve', 'storage.Store']);
  });

  it('traces a batch that is handed over: re-enqueue, detached and linked to process-batch', async () => {
    await using target = await TargetServer.start(() => new Promise(() => undefined));
    await using collector = await TargetServer.start();
    await using harness = await BatchHarness.open({
      settings: { 'batch.gateway_url': target.url, 'batch.grace_ms': 0 },
      environment: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url },
    });
    const job = await harness.submit([chatLine('a')]);
    const processor = harness.start();
    await harness.until(job.id, 'a line in flight', () => target.calls.length === 1);
    processor.child.kill('SIGTERM');
    await once(processor.child, 'exit');
    const spans = spansIn(collector.calls);
    const root = spans.find(({ name }) => name === 'process-batch')!;
    const handedOver = spans.find(({ name }) => name === 're-enqueue')!;
    expect(handedOver.traceId).not.toBe(root.traceId);
    expect(handedOver.links).toEqual([
      expect.objectContaining({ traceId: root.traceId, spanId: root.spanId }),
    ]);
    expect(attributesOf(handedOver)).toMatchObject({ 'batch.id': job.id });
  });
});

const attributesOf = ({ attributes }: OtlpSpan): Record<string, unknown> =>
  Object.fromEntries(
    attributes.map(({ key, value }) => [key, value.stringValue ?? value.intValue]),
  );

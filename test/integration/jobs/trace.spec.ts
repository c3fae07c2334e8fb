import { once } from 'node:events';
import { afterEach, describe, expect, it } from '@jest/globals';
import { spansIn } from '../../support/otlp.js';
import { Product } from '../../support/product.js';
import { syntheticModel } from '../../support/synthetic-model.js';
import { TargetServer } from '../../support/target-server.js';
import { SdkRoundTrip } from './sdk-round-trip.js';

afterEach(() => {
  delete process.env.OTEL_EXPORTER_OTLP_ENDPOINT;
});

describe('one trace', () => {
  it("goes from the caller's span over the API's to the processor's", async () => {
    await using collector = await TargetServer.start(() => ({ body: '{}' }));
    process.env.OTEL_EXPORTER_OTLP_ENDPOINT = collector.url;
    await using product = await Product.start([syntheticModel({})], {
      'batch.embedded': 'true',
      'batch.poll_ms': 100,
    });
    const trip = new SdkRoundTrip(product.url);
    const file = new File(['not json'], 'in.jsonl');
    const { id: input_file_id } = await trip.client.files.create({
      file,
      purpose: 'batch',
    });
    const [traceId, spanId] = ['4b'.repeat(16), 'f0'.repeat(8)];
    const order = {
      input_file_id,
      endpoint: '/v1/embeddings',
      completion_window: '24h',
    } as const;
    const headers = { traceparent: `00-${traceId}-${spanId}-01` };
    const { id } = await trip.client.batches.create(order, { headers });
    expect((await trip.untilEnd(id)).status).toBe('failed');
    const { child } = product.gateway.process;
    child.kill('SIGTERM');
    await once(child, 'exit');
    const spans = spansIn(collector.calls);
    const http = spans.find(
      span => span.name === 'POST /v1/batches' && span.parentSpanId === spanId,
    );
    const api = spans.find(({ name }) => name === 'create-batch');
    expect(api).toMatchObject({ traceId, parentSpanId: http!.spanId });
    const work = spans.find(({ name }) => name === 'process-batch');
    expect(work).toMatchObject({ traceId, parentSpanId: api!.spanId });
  }, 120_000);

  it('links the trace of each line to its batch, and is none of its own', async () => {
    await using collector = await TargetServer.start(() => ({ body: '{}' }));
    process.env.OTEL_EXPORTER_OTLP_ENDPOINT = collector.url;
    const model = syntheticModel(
      {},
      { id: 'vectors', kind: 'embedding', capabilities: ['embeddings'] },
    );
    await using product = await Product.start([model], {
      'batch.embedded': 'true',
      'batch.poll_ms': 100,
    });
    const trip = new SdkRoundTrip(product.url);
    const line = {
      custom_id: 'a',
      method: 'POST',
      url: '/v1/embeddings',
      body: { model: 'vectors', input: 'one' },
    };
    const file = new File([`${JSON.stringify(line)}\n`], 'in.jsonl');
    const { id: input_file_id } = await trip.client.files.create({
      file,
      purpose: 'batch',
    });
    const order = {
      input_file_id,
      endpoint: '/v1/embeddings',
      completion_window: '24h',
    } as const;
    const { id } = await trip.client.batches.create(order);
    expect((await trip.untilEnd(id)).status).toBe('completed');
    const { child } = product.gateway.process;
    child.kill('SIGTERM');
    await once(child, 'exit');
    const spans = spansIn(collector.calls);
    const { traceId, spanId } = spans.find(({ name }) => name === 'create-batch')!;
    const sent = spans.find(({ name }) => name === 'POST /v1/embeddings')!;
    expect(sent.links).toEqual([expect.objectContaining({ traceId, spanId })]);
    expect(sent.traceId).not.toBe(traceId);
  }, 120_000);
});

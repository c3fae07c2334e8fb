import { once } from 'node:events';
import { afterEach, describe, expect, it } from '@jest/globals';
import { Product } from '../../support/product.js';
import { syntheticModel } from '../../support/synthetic-model.js';
import { TargetServer } from '../../support/target-server.js';
import { SdkRoundTrip } from './sdk-round-trip.js';

interface Span {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
}

interface Export {
  readonly resourceSpans: readonly { readonly scopeSpans: readonly { readonly spans: readonly Span[] }[] }[];
}

const spansIn = (body: Buffer): Span[] =>
  (JSON.parse(body.toString()) as Export).resourceSpans.flatMap(({ scopeSpans }) =>
    scopeSpans.flatMap(({ spans }) => spans),
  );

afterEach(() => {
  delete process.env.OTEL_EXPORTER_OTLP_ENDPOINT;
});

describe('one trace', () => {
  it("goes from the caller's span over the API's to the processor's", async () => {
    await using collector = await TargetServer.start(() => ({ body: '{}' }));
    process.env.OTEL_EXPORTER_OTLP_ENDPOINT = collector.url;
    await using product = await Product.start([syntheticModel({})], { 'batch.embedded': 'true', 'batch.poll_ms': 100 });
    const trip = new SdkRoundTrip(product.url);
    const file = new File(['not json'], 'in.jsonl');
    const { id: input_file_id } = await trip.client.files.create({ file, purpose: 'batch' });
    const [traceId, spanId] = ['4b'.repeat(16), 'f0'.repeat(8)];
    const order = { input_file_id, endpoint: '/v1/embeddings', completion_window: '24h' } as const;
    const headers = { traceparent: `00-${traceId}-${spanId}-01` };
    const { id } = await trip.client.batches.create(order, { headers });
    expect((await trip.untilEnd(id)).status).toBe('failed');
    const { child } = product.gateway.process;
    child.kill('SIGTERM');
    await once(child, 'exit');
    const spans = collector.calls.flatMap(({ body }) => spansIn(body));
    const api = spans.find(({ name }) => name === 'create-batch');
    expect(api).toMatchObject({ traceId, parentSpanId: spanId });
    const work = spans.find(({ name }) => name === 'process-batch');
    expect(work).toMatchObject({ traceId, parentSpanId: api!.spanId });
  }, 120_000);
});

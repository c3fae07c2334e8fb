import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type Context, type Span, type SpanOptions, trace, type Tracer } from '@opentelemetry/api';
import { fastify, type FastifyInstance } from 'fastify';
import { type DispatchEvent } from '../../core/dispatch/dispatch-event.js';
import { type RequestKey } from '../../core/request/request-key.js';
import { DispatchEventBus } from '../../platform/events/events.module.js';
import { TRACE_LINK_HEADER } from '../../platform/tracing/tracing.module.js';
import { RequestTraces } from './request-traces.js';

const ENDPOINT = 'OTEL_EXPORTER_OTLP_ENDPOINT';
const [TRACE, SPAN] = ['4b'.repeat(16), 'f0'.repeat(8)];
const HEADER = `00-${TRACE}-${SPAN}-01`;

interface Recorded {
  readonly name: string;
  readonly options: SpanOptions;
  readonly parent: string | undefined;
  attributes: object;
  status?: object;
  endMs?: number | undefined;
  ended: boolean;
}

let spans: Recorded[];
let isRecording: boolean;
let traces: RequestTraces;
let bus: DispatchEventBus;
let server: FastifyInstance;

/** Numbers its spans from 1. */
const tracer = {
  startSpan: (name: string, options: SpanOptions, context: Context) => {
    const parent = trace.getSpanContext(context)?.spanId;
    const recorded: Recorded = { name, options, parent, attributes: {}, ended: false };
    const spanId = String(spans.push(recorded)).padStart(16, '0');
    const span = {
      isRecording: () => isRecording,
      spanContext: () => ({ traceId: TRACE, spanId, traceFlags: 1 }),
      setAttribute: (key: string, value: unknown) =>
        Object.assign(recorded.attributes, { [key]: value }),
      setAttributes: (values: object) => Object.assign(recorded.attributes, values),
      setStatus: (status: object) => (recorded.status = status),
      end: (endMs?: number) => Object.assign(recorded, { endMs, ended: true }),
    };
    return span as unknown as Span;
  },
} as unknown as Tracer;

beforeEach(() => {
  process.env[ENDPOINT] = 'http://127.0.0.1:1';
  [spans, isRecording] = [[], true];
  bus = new DispatchEventBus();
  traces = new RequestTraces(tracer, bus);
  server = fastify({ genReqId: () => 'req_1' });
  for (const path of ['/v1/models', '/healthz'])
    server.get<{ Querystring: { code?: string } }>(path, (request, reply) =>
      reply.code(Number(request.query.code ?? 200)).send({ seen: request.headers.traceparent }),
    );
});
afterEach(async () => {
  delete process.env[ENDPOINT];
  traces.onApplicationShutdown();
  await server.close();
});

const asked = async (url: string, headers: Record<string, string> = {}) => {
  traces.watch(server);
  const origin = await server.listen({ port: 0, host: '127.0.0.1' });
  const answer = await fetch(`${origin}${url}`, {
    headers: { connection: 'close', ...headers },
  });
  const { seen } = (await answer.json()) as { seen?: string };
  await server.close();
  return seen;
};

describe('the span of an HTTP exchange', () => {
  it.each([
    [200, undefined],
    [499, undefined],
    [500, { code: 2 }],
  ])('continues the trace of its caller, and ends with status %p', async (code, status) => {
    const seen = await asked(`/v1/models?code=${code}`, { traceparent: HEADER });
    expect(seen).toBe(`00-${TRACE}-${'1'.padStart(16, '0')}-01`);
    expect(spans).toMatchObject([
      {
        name: 'GET /v1/models',
        parent: SPAN,
        ended: true,
        attributes: { 'http.response.status_code': code },
        options: { attributes: { 'http.route': '/v1/models', 'request.id': 'req_1' }, links: [] },
      },
    ]);
    expect(spans[0]!.status).toEqual(status);
  });

  it('is linked to the trace of its batch', async () => {
    await asked('/v1/models', { [TRACE_LINK_HEADER]: HEADER });
    expect(spans[0]).toMatchObject({ options: { links: [{ context: { spanId: SPAN } }] } });
    expect(spans[0]!.parent).toBeUndefined();
  });

  it('is not passed on where it is not recorded', async () => {
    isRecording = false;
    expect(await asked('/v1/models', { traceparent: HEADER })).toBe(HEADER);
    expect(spans[0]!.ended).toBe(false);
  });

  it('exists neither for probes nor without an endpoint', async () => {
    await asked('/healthz');
    expect(spans).toEqual([]);
  });

  it('does not exist without an endpoint for traces', async () => {
    delete process.env[ENDPOINT];
    await asked('/v1/models');
    traces.onModuleInit();
    emit({ type: 'accepted', traceparent: HEADER });
    expect(spans).toEqual([]);
  });
});

const emit = (event: object): void =>
  bus.emit({ key: 'k' as RequestKey, model: 'm', ...event } as unknown as DispatchEvent);
const LEASED = { type: 'leased', workerId: 'w', attempt: 1, groupSize: 2, batchWaitMs: 0 };
const SETTLED = { type: 'settled', phases: {} };

/** Name, start and end of each span, and the number of the one above it. */
const shown = () =>
  spans.map(({ name, options: { startTime }, endMs, parent }) => [
    name,
    startTime,
    endMs,
    parent === SPAN ? 'caller' : Number(parent),
  ]);

describe('the spans of a request', () => {
  beforeEach(() => traces.onModuleInit());

  it('are its queue, window, worker call, preparation and device', () => {
    emit({ type: 'accepted', traceparent: HEADER, atMs: 100, tenant: 't', priority: 'batch' });
    emit({ ...LEASED, atMs: 150, batchWaitMs: 1 });
    emit({
      ...SETTLED,
      atMs: 190,
      phases: { readyMs: 10, totalMs: 90 },
      batchSize: 2,
      deviceMs: 5,
    });
    expect(shown()).toEqual([
      ['queue', 100, 150, 'caller'],
      ['window', 149, 150, 1],
      ['worker call', 150, 190, 'caller'],
      ['preparation', 150, 160, 3],
      ['device', 160, 190, 3],
    ]);
    expect(spans[0]!.options.attributes).toEqual({ model: 'm', tenant: 't', priority: 'batch' });
    expect(spans[2]!.options.attributes).toMatchObject({ worker: 'w', 'group.size': 2 });
    expect(spans[4]!.options.attributes).toEqual({ 'batch.size': 2, 'device.share_ms': 5 });
    expect(spans.every(({ status }) => status === undefined)).toBe(true);
  });

  it('have no window where none was waited for, and no device where none is known', () => {
    emit({ type: 'accepted', traceparent: HEADER, atMs: 100 });
    emit({ ...LEASED, atMs: 150 });
    emit({ ...SETTLED, atMs: 190 });
    emit({ ...SETTLED, atMs: 200 });
    expect(shown()).toEqual([
      ['queue', 100, 150, 'caller'],
      ['worker call', 150, 190, 'caller'],
    ]);
  });

  it('end within the request, whatever the worker says of its preparation', () => {
    emit({ type: 'accepted', traceparent: HEADER, atMs: 100 });
    emit({ ...LEASED, atMs: 150 });
    emit({ ...SETTLED, atMs: 190, phases: { readyMs: 99 } });
    expect(shown().slice(2)).toEqual([
      ['preparation', 150, 190, 2],
      ['device', 190, 190, 2],
    ]);
  });

  it('begin anew in the queue after a lost worker, and say why they end', () => {
    emit({ type: 'accepted', traceparent: HEADER, atMs: 100 });
    emit({ ...LEASED, atMs: 150 });
    emit({ type: 'promoted', atMs: 155 });
    emit({ type: 'requeued', code: 'worker_lost', atMs: 160 });
    emit({ ...SETTLED, code: 'queue_timeout', atMs: 170 });
    expect(shown()).toEqual([
      ['queue', 100, 150, 'caller'],
      ['worker call', 150, 160, 'caller'],
      ['queue', 160, 170, 'caller'],
    ]);
    expect(spans.map(({ status }) => status)).toEqual([
      undefined,
      { code: 2, message: 'worker_lost' },
      { code: 2, message: 'queue_timeout' },
    ]);
  });

  it('say in seconds what the model did', () => {
    emit({ type: 'accepted', traceparent: HEADER, atMs: 100 });
    const usage = { inputTokens: 3, outputTokens: 4 };
    emit({ ...SETTLED, atMs: 190, usage, firstOutputMs: 500, phases: { totalMs: 1500 } });
    expect(spans[0]!.attributes).toEqual({
      'gen_ai.usage.input_tokens': 3,
      'gen_ai.usage.output_tokens': 4,
      'gen_ai.server.time_to_first_token': 0.5,
      'gen_ai.server.request.duration': 1.5,
    });
  });

  it('are none for a request that is not traced, or not recorded, and after the end', () => {
    emit({ type: 'accepted', atMs: 100 });
    emit({ ...LEASED, atMs: 150 });
    expect(spans).toEqual([]);
    isRecording = false;
    emit({ type: 'accepted', traceparent: HEADER, atMs: 100 });
    emit({ ...SETTLED, atMs: 150 });
    expect(spans.map(({ ended }) => ended)).toEqual([false]);
    traces.onApplicationShutdown();
    emit({ type: 'accepted', traceparent: HEADER, atMs: 100 });
    expect(spans).toHaveLength(1);
  });
});

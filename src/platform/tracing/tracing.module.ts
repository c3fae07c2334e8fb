import { type IncomingHttpHeaders } from 'node:http';
import { type DynamicModule, Inject, Module, type OnApplicationShutdown } from '@nestjs/common';
import {
  type Context,
  isSpanContextValid,
  ROOT_CONTEXT,
  type SpanContext,
  trace,
  type Tracer,
} from '@opentelemetry/api';
import { tracedShare } from '../config/process-environment.js';

/** Injection token of the process's `Tracer`. */
export const TRACER = Symbol('TRACER');

interface Tracing {
  readonly tracer: Tracer;
  /** Sends what is left. */
  close(): Promise<void>;
}

/**
 * Traces over OTLP/HTTP to OTEL_EXPORTER_OTLP_ENDPOINT, with OpenTelemetry's other
 * variables; without it a tracer that does nothing, and none of the SDK is loaded. A
 * trace that a caller began is recorded if its caller says so.
 */
export async function startTracing(service: string): Promise<Tracing> {
  const share = tracedShare();
  if (share === undefined)
    return { tracer: trace.getTracer(service), close: () => Promise.resolve() };
  const [
    { BatchSpanProcessor, ParentBasedSampler, TraceIdRatioBasedSampler, TracerProvider },
    { OTLPTraceExporter },
    { resourceFromAttributes },
  ] = await Promise.all([
    import('@opentelemetry/sdk-trace'),
    import('@opentelemetry/exporter-trace-otlp-http'),
    import('@opentelemetry/resources'),
  ]);
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ 'service.name': service }),
    sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(share) }),
    spanProcessors: [new BatchSpanProcessor({ exporter: new OTLPTraceExporter() })],
  });
  // For engines, which Nest does not build.
  trace.setGlobalTracerProvider(provider);
  const close = () => {
    trace.disable();
    return provider.shutdown();
  };
  return { tracer: provider.getTracer(service), close };
}

const FORM = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;

/**
 * W3C Trace Context, version 00: what the header `traceparent` says of a span; undefined
 * while nothing is traced.
 */
export function traceparentOf(span: SpanContext): string | undefined {
  if (!isSpanContextValid(span)) return undefined;
  return `00-${span.traceId}-${span.spanId}-${span.traceFlags.toString(16).padStart(2, '0')}`;
}

/**
 * The context below which a new span continues that trace; of nothing, or of
 * nonsense, the root.
 */
export function contextAfter(traceparent: string | undefined): Context {
  const [, traceId = '', spanId = '', flags = ''] = FORM.exec(traceparent ?? '') ?? [];
  const span = {
    traceId,
    spanId,
    traceFlags: Number.parseInt(flags, 16),
    isRemote: true,
  };
  return isSpanContextValid(span) ? trace.setSpanContext(ROOT_CONTEXT, span) : ROOT_CONTEXT;
}

/**
 * On a line of a batch: the `traceparent` of its batch, whose trace that of the line
 * is linked to.
 */
export const TRACE_LINK_HEADER = 'x-switchyard-trace-link';

/** A header with a `traceparent`; undefined: absent, or nonsense. */
export function traceparentIn(
  headers: IncomingHttpHeaders,
  name = 'traceparent',
): string | undefined {
  const text = headers[name];
  return typeof text === 'string' && FORM.test(text) ? text : undefined;
}

const TRACING = Symbol('TRACING');

/**
 * The `Tracer` of a process that is a Nest application, for all its modules; what is left
 * is sent when it ends.
 */
@Module({})
export class TracingModule implements OnApplicationShutdown {
  constructor(@Inject(TRACING) private readonly tracing: Tracing) {}

  static forService(service: string): DynamicModule {
    return {
      module: TracingModule,
      global: true,
      providers: [
        { provide: TRACING, useFactory: () => startTracing(service) },
        {
          provide: TRACER,
          inject: [TRACING],
          useFactory: ({ tracer }: Tracing) => tracer,
        },
      ],
      exports: [TRACER],
    };
  }

  onApplicationShutdown(): Promise<void> {
    return this.tracing.close();
  }
}

import { trace, type Tracer } from '@opentelemetry/api';
import { tracedShare, tracingWanted } from '../config/process-environment.js';

/** Injection token of the process's `Tracer`. */
export const TRACER = Symbol('TRACER');

export interface Tracing {
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
  if (!tracingWanted())
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
    sampler: new ParentBasedSampler({
      root: new TraceIdRatioBasedSampler(tracedShare()),
    }),
    spanProcessors: [new BatchSpanProcessor({ exporter: new OTLPTraceExporter() })],
  });
  // For engines, which Nest does not build.
  trace.setGlobalTracerProvider(provider);
  const close = (): Promise<void> => {
    trace.disable();
    return provider.shutdown();
  };
  return { tracer: provider.getTracer(service), close };
}

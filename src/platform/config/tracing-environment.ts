/** OpenTelemetry is configured by its own variables; without this one nothing is traced. */
export const tracingWanted = (environment: NodeJS.ProcessEnv = process.env): boolean =>
  (environment.OTEL_EXPORTER_OTLP_ENDPOINT ?? environment.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT ?? '') !== '';

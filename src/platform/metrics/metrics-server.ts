import { once } from 'node:events';
import { createServer } from 'node:http';
import { collectDefaultMetrics, register } from 'prom-client';
import { METRICS } from './registry.js';

/**
 * `GET /metrics`, for processes without an HTTP server of their own.
 * @returns what closes it. @throws when the port is taken by another
 */
export async function serveMetrics(port: number, host: string): Promise<() => Promise<void>> {
  const server = createServer((request, response) => {
    if (request.method !== 'GET' || request.url !== '/metrics')
      return void response.writeHead(404).end();
    allMetricsText().then(
      text => response.writeHead(200, { 'content-type': METRICS_CONTENT_TYPE }).end(text),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  });
  await once(server.listen(port, host), 'listening');
  return async () => {
    server.closeAllConnections();
    await server[Symbol.asyncDispose]();
  };
}

/**
 * Expositions of several processes as one: a metric that more than one of them has is one
 * family, as the format demands. Their samples must differ by a label.
 */
export function mergedMetrics(texts: readonly string[]): string {
  const families = new Map<string, string[]>();
  for (const family of texts.flatMap(text => text.split(/^(?=# HELP )/m))) {
    const [help = '', type = '', ...samples] = family.split('\n').filter(Boolean);
    if (help === '') continue;
    const known = families.get(help);
    if (known) known.push(...samples);
    else families.set(help, [type, ...samples]);
  }
  return [...families].map(([help, lines]) => `${[help, ...lines].join('\n')}\n`).join('\n');
}

export const METRICS_CONTENT_TYPE = register.contentType;

/**
 * Exposition text of the metrics of our table that this process has; none of
 * prom-client's process metrics.
 */
export async function ownMetricsText(): Promise<string> {
  const names = Object.keys(METRICS).filter(name => register.getSingleMetric(name) !== undefined);
  const texts = await Promise.all(names.map(name => register.getSingleMetricAsString(name)));
  return `${texts.join('\n\n')}\n`;
}

/** The same and the process metrics, which are collected from the first call on. */
export async function allMetricsText(): Promise<string> {
  if (!register.getSingleMetric('process_cpu_seconds_total')) collectDefaultMetrics();
  return register.metrics();
}

import { type CallExecution, deviceShareMs } from '@switchyard/worker-protocol/call.codec.js';
import { IGNORED_HEADER } from '../../contracts/openai/field-types.js';
import { type LatencyPhases } from '../../core/request/latency-phases.js';

export interface RequestTimings {
  readonly phases: LatencyPhases;
  readonly attempts?: number;
  readonly execution?: CallExecution;
  /** Generated text: from acceptance to the first token. */
  readonly ttftMs?: number;
  /** Tokens of text that was not streamed. */
  readonly usage?: { readonly promptTokens: number; readonly completionTokens: number };
}

/**
 * Headers of every answer of a model: the model, what was ignored, and where the time
 * went. `Server-Timing` and `x-switchyard-*` in milliseconds: the answer to "why did my
 * request wait?". `batch` is a part of `queue`; `prep`, `ready` (prepared, waiting for the
 * device) and `device` are parts of `grpc`; `share` is its own part of `device`, which it
 * had with others. Phases that the request did not reach are left out.
 */
export function answerHeaders(
  model: string,
  { phases, attempts, execution, ttftMs, usage }: RequestTimings,
  ignored: readonly string[] = [],
): Record<string, string> {
  const spans: readonly [timing: string, header?: string, ms?: number][] = [
    ['queue', 'x-switchyard-queue-ms', phases.queueWaitMs],
    ['batch', 'x-switchyard-batch-wait-ms', phases.batchWaitMs],
    ['grpc', 'x-switchyard-grpc-ms', phases.grpcMs],
    ['ttft', 'x-switchyard-ttft-ms', ttftMs],
    ['prep', 'x-switchyard-prep-ms', execution?.prepMs],
    ['ready', 'x-switchyard-ready-ms', execution?.readyWaitMs],
    ['device', 'x-switchyard-device-ms', execution?.deviceMs],
    ['total', undefined, phases.totalMs],
    ['share', 'x-switchyard-device-share-ms', execution && deviceShareMs(execution)],
  ];
  const headers: Record<string, string> = {};
  const timings: string[] = [];
  for (const [timing, header, ms] of spans) {
    if (ms === undefined) continue;
    const shown = ms.toFixed(2);
    timings.push(`${timing};dur=${shown}`);
    if (header) headers[header] = shown;
  }
  if (timings.length > 0) headers['server-timing'] = timings.join(', ');
  if (execution) headers['x-switchyard-batch-size'] = String(execution.batchSize);
  if (usage) {
    headers['x-switchyard-prompt-tokens'] = String(usage.promptTokens);
    headers['x-switchyard-completion-tokens'] = String(usage.completionTokens);
  }
  if (attempts !== undefined) headers['x-switchyard-attempts'] = String(attempts);
  headers['x-switchyard-model'] = model;
  if (ignored.length > 0) headers[IGNORED_HEADER] = namesOf([...new Set(ignored)]);
  return headers;
}

/**
 * Clients bound the size of headers; a long history may have thousands of ignored items.
 */
const MOST_NAMES = 32;

function namesOf(ignored: readonly string[]): string {
  const more = ignored.length - MOST_NAMES;
  return [...ignored.slice(0, MOST_NAMES), ...(more > 0 ? [`+${more}`] : [])].join(', ');
}

import { readFileSync } from 'node:fs';
import { type PriorityLabel } from '../../../../src/core/request/request-priority.js';

/** One request as it came: what a simulation replays. */
export interface TraceRequest {
  /** Milliseconds from the beginning of the trace. */
  readonly atMs: number;
  readonly model: string;
  readonly tenant: string;
  readonly priority: PriorityLabel;
  /** Milliseconds of a device; absent: what every request costs. */
  readonly costMs?: number;
  /** Milliseconds that the device may take for it alone (D-07); absent: unlimited. */
  readonly limitMs?: number;
  /** What the gateway takes it for, in the same unit. */
  readonly estimatedMs?: number;
  /** Milliseconds from its arrival until its answer is of use; absent: any. */
  readonly deadlineMs?: number;
  /** Its caller gives up so long after it came; absent: never. */
  readonly cancelAfterMs?: number;
}

/**
 * A trace from a file, one JSON object per line: `{"at_ms": 12.5, "model": "whisper",
 * "tenant": "acme", "priority": "realtime"}`, and `"cancel_after_ms"` where a caller hung
 * up. Lines may be in any order. @throws Error naming the first bad line
 */
export function readTrace(file: string): TraceRequest[] {
  const lines = readFileSync(file, 'utf8').split('\n');
  const requests = lines.flatMap((line, index) =>
    line.trim() === '' ? [] : [readLine(line, `${file}:${index + 1}`)],
  );
  return requests.sort((a, b) => a.atMs - b.atMs);
}

function readLine(line: string, place: string): TraceRequest {
  const fields = parsed(line, place);
  const {
    at_ms: atMs,
    model,
    tenant = 'default',
    priority = 'batch',
    cancel_after_ms: cancelAfterMs,
  } = fields;
  const isTime = (value: unknown): value is number => typeof value === 'number' && value >= 0;
  if (!isTime(atMs)) throw new Error(`${place}: at_ms must be a number of milliseconds >= 0`);
  if (typeof model !== 'string' || typeof tenant !== 'string')
    throw new Error(`${place}: model and tenant must be text`);
  if (priority !== 'realtime' && priority !== 'batch')
    throw new Error(`${place}: priority must be realtime or batch`);
  if (cancelAfterMs !== undefined && !isTime(cancelAfterMs))
    throw new Error(`${place}: cancel_after_ms must be a number of milliseconds >= 0`);
  return {
    atMs,
    model,
    tenant,
    priority,
    ...(cancelAfterMs !== undefined && { cancelAfterMs }),
  };
}

function parsed(line: string, place: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    throw new Error(`${place}: not JSON`);
  }
  if (typeof value !== 'object' || value === null) throw new Error(`${place}: not a JSON object`);
  return value as Record<string, unknown>;
}

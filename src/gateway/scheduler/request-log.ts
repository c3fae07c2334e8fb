import { Logger } from '@nestjs/common';
import { ERROR_REGISTRY } from '../../contracts/errors/error-registry.js';
import { type LatencyPhases } from '../../core/request/latency-phases.js';
import { type DispatchEventBus } from '../../platform/events/events.module.js';

/**
 * One log line per settled request, with its phases, and one when its worker gave it back
 * to the queue or its answer was withdrawn.
 */
export function logRequestEvents(events: DispatchEventBus): void {
  const logger = new Logger('Request');
  events.on('settled', ({ type: _type, atMs: _atMs, key: _key, phases, ...fields }) => {
    const { status, code } = fields;
    const line = { ...fields, ...rounded(phases) };
    const isServerFault = code !== undefined && ERROR_REGISTRY[code].status >= 500;
    logger[isServerFault ? 'warn' : 'log'](line, `request ${status}`);
  });
  events.on('withdrawn', ({ type: _type, atMs: _atMs, key: _key, ...fields }) => {
    const line = { ...fields, status: 'cancelled', code: 'request_cancelled' };
    logger.log(line, 'request cancelled: its answer was computed, and is withdrawn');
  });
  // What a worker gives back is no warning: nothing was lost.
  events.on('requeued', ({ requestId, model, workerId, code }) => {
    const line = { requestId, model, workerId };
    const place = 'is queued again in its old place';
    if (code === 'shutting_down') logger.log(line, `the worker gave the request back; it ${place}`);
    else logger.warn(line, `worker lost; the request ${place}`);
  });
}

/** Microseconds are enough, and keep the line readable. */
function rounded(phases: LatencyPhases): Record<string, number> {
  const line: Record<string, number> = {};
  for (const [phase, ms] of Object.entries(phases) as [string, number][])
    line[phase] = Math.round(ms * 1000) / 1000;
  return line;
}

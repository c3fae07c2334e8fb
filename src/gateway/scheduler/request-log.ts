import { Injectable, Logger } from '@nestjs/common';
import { type EventOf } from '../../core/dispatch/dispatch-event.js';
import { type LatencyPhases } from '../../core/request/latency-phases.js';
import { ERROR_REGISTRY } from '../../contracts/errors/error-registry.js';
import { DispatchEventBus } from '../../platform/events/events.module.js';

/**
 * One log line per settled request, with its phases, and one when its worker gave it back
 * to the queue.
 */
@Injectable()
export class RequestLog {
  readonly #logger = new Logger('Request');

  constructor(events: DispatchEventBus) {
    events.on('settled', ({ type: _type, atMs: _atMs, key: _key, phases, ...fields }) => {
      const { status, code } = fields;
      const line = { ...fields, ...rounded(phases) };
      const isServerFault = code !== undefined && ERROR_REGISTRY[code].status >= 500;
      this.#logger[isServerFault ? 'warn' : 'log'](line, `request ${status}`);
    });
    events.on('requeued', event => this.#requeued(event));
  }

  /** What a worker gives back is no warning: nothing was lost. */
  #requeued({ requestId, model, workerId, code }: EventOf<'requeued'>): void {
    const line = { requestId, model, workerId };
    if (code === 'shutting_down')
      this.#logger.log(
        line,
        'the worker gave the request back; it is queued again in its old place',
      );
    else
      this.#logger.warn(
        line,
        'worker lost; the request is queued again in its old place',
      );
  }
}

/** Microseconds are enough, and keep the line readable. */
function rounded(phases: LatencyPhases): Record<string, number> {
  const line: Record<string, number> = {};
  for (const [phase, ms] of Object.entries(phases) as [string, number][])
    line[phase] = Math.round(ms * 1000) / 1000;
  return line;
}

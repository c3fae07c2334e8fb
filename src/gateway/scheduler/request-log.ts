import { Injectable, Logger } from '@nestjs/common';
import { type DispatchEvent } from '../../core/dispatch/dispatch-event.js';
import { ERROR_REGISTRY } from '../../contracts/errors/error-registry.js';
import { DispatchEventBus } from '../../platform/events/events.module.js';

type Settled = Extract<DispatchEvent, { type: 'settled' }>;

/**
 * One log line per settled request, with its phases, and one when its worker gave it back
 * to the queue.
 */
@Injectable()
export class RequestLog {
  readonly #logger = new Logger('Request');

  constructor(events: DispatchEventBus) {
    events.events$.subscribe(event => {
      if (event.type === 'settled') this.#settled(event);
      else if (event.type === 'requeued') this.#requeued(event);
    });
  }

  #settled({ type: _type, atMs: _atMs, key: _key, phases, ...fields }: Settled): void {
    const line = { ...fields, ...rounded(phases) };
    if (isServerFault(fields)) this.#logger.warn(line, `request ${fields.status}`);
    else this.#logger.log(line, `request ${fields.status}`);
  }

  /** What a worker gives back is no warning: nothing was lost. */
  #requeued({
    requestId,
    model,
    workerId,
    code,
  }: Extract<DispatchEvent, { type: 'requeued' }>): void {
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

function isServerFault({ code }: Pick<Settled, 'code'>): boolean {
  return code !== undefined && ERROR_REGISTRY[code].status >= 500;
}

/** Microseconds are enough, and keep the line readable. */
function rounded(phases: Settled['phases']): Record<string, number> {
  const entries = Object.entries(phases) as [string, number][];
  return Object.fromEntries(
    entries.map(([phase, ms]) => [phase, Math.round(ms * 1000) / 1000]),
  );
}

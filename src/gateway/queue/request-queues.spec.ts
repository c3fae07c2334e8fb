import { expect, it } from '@jest/globals';
import { aRequest } from '../../../test/support/requests.js';
import { transcribe } from '../../../test/support/scheduler-harness.js';
import { ServiceTimes } from '../../core/latency/service-times.js';
import { RequestQueues } from './request-queues.js';

/** Queues of which the embedded one expects 5 s of waiting. */
function queues(isIdle: boolean): RequestQueues {
  const shared = { accepts: () => false };
  const embedded = { isIdle: () => isIdle, startMs: () => 5000 };
  const parts = [
    shared,
    embedded,
    { nowMs: () => 0 },
    new ServiceTimes(),
  ] as never as ConstructorParameters<typeof RequestQueues>;
  return new RequestQueues(...parts);
}

it.each([
  [false, 'deadline_unreachable'],
  [true, undefined],
])(
  'with a worker at rest %j, a wait longer than the deadline is refused with %j',
  (isIdle, code) => {
    const deadlines = [{ until: 'answer', withinMs: 1000, leftMs: 1000 } as const];
    const request = { ...aRequest('r'), payload: transcribe() };
    expect(queues(isIdle).track(request, deadlines).refusal?.code).toBe(code);
  },
);

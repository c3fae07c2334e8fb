import { expect, it } from '@jest/globals';
import { aRequest } from '../../../test/support/requests.js';
import { AnswerTimes } from '../../core/queue/answer-times.js';
import { ProcessClock } from '../../platform/clock/clock.module.js';
import { RequestQueues } from './request-queues.js';

/** A queue, and forecasts that expect 5 s of waiting. */
function queues(isIdle: boolean): RequestQueues {
  const shared = { accepts: () => false };
  const embedded = { accepts: () => true, isIdle: () => isIdle, estimateMs: () => 10 };
  const forecasts = { ofNew: () => ({ startInMs: { p50: 5000, p90: 9000 } }) };
  const parts = [
    shared,
    embedded,
    {},
    new AnswerTimes(),
    forecasts,
    new ProcessClock(),
  ] as never as ConstructorParameters<typeof RequestQueues>;
  return new RequestQueues(...parts);
}

it.each([
  [false, 'deadline_unreachable'],
  [true, undefined],
])('with a worker at rest %j, a wait longer than the deadline is refused with %j', (isIdle, code) => {
  const deadlines = [{ until: 'answer', withinMs: 1000, leftMs: 1000 } as const];
  const request = { ...aRequest('r'), payload: { kind: 'transcription' } } as never;
  expect(queues(isIdle).track(request, deadlines).refusal?.code).toBe(code);
});

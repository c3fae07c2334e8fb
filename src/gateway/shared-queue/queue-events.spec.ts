import { beforeEach, expect, it, jest } from '@jest/globals';
import { JobEvents, type QueueEvent } from '@switchyard/shared-queue/client/job-events.js';
import { Subject } from 'rxjs';
import { QueueEvents } from './queue-events.js';

type Parts = ConstructorParameters<typeof QueueEvents>;

const [start, listen, close] = (['start', 'listen', 'close'] as const).map(name =>
  jest.spyOn(JobEvents.prototype, name),
);
const drained = jest.fn();
let changes$: Subject<{ added: string[] }>;
let events$: Subject<Pick<QueueEvent, 'event' | 'model'>>;

beforeEach(() => {
  [changes$, events$] = [new Subject(), new Subject()];
  for (const spy of [start, listen, close, drained]) spy?.mockReset();
});

function opened(enabled: boolean): QueueEvents {
  const events = new QueueEvents(
    { enabled, back$: new Subject() } as unknown as Parts[0],
    { changes$, current: [{ id: 'm' }] } as unknown as Parts[1],
    { drained } as unknown as Parts[2],
    { nowMs: () => 7 },
  );
  Object.assign(events, { events$ });
  events.onApplicationBootstrap();
  return events;
}

it('follows the queues of all models, those that are added later included', async () => {
  const events = opened(true);
  changes$.next({ added: ['n', 'o'] });
  expect([start?.mock.calls, listen?.mock.calls]).toEqual([[[['m']]], [['n'], ['o']]]);
  await events.onApplicationShutdown();
  expect(close).toHaveBeenCalledTimes(1);
});

it('makes room in the queue with what a worker took, and nothing else', () => {
  opened(true);
  for (const event of ['added', 'active', 'completed']) events$.next({ event, model: 'm' });
  expect(drained.mock.calls).toEqual([['m', 7]]);
});

it('follows none of an embedded queue', () => {
  opened(false);
  changes$.next({ added: ['n'] });
  expect([start?.mock.calls, listen?.mock.calls]).toEqual([[], []]);
});

import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { PriorityQueue } from '../../src/core/queue/priority-queue.js';
import { listingOf } from '../../src/core/queue/queue-places.js';
import { type ScheduledRequest } from '../../src/core/request/scheduled-request.js';
import { deadlineLoad } from '../bench/support/simulation/deadline-load.js';
import { aRequest } from '../support/requests.js';

const AGING_MS = 300;
const TENANTS = ['a', 'b', 'c'] as const;
type Request = ScheduledRequest;

const arrival = fc.record({
  tenant: fc.constantFrom(...TENANTS),
  afterMs: fc.constantFrom(0, 1, 20),
  costMs: fc.constantFrom(1, 9, 40),
  startInMs: fc.constantFrom(undefined, 5, 60, 200, 5000),
  /** Sent after it: requests that a worker takes. */
  takes: fc.constantFrom(0, 0, 1, 3),
});
const history = fc.array(arrival, { minLength: 20, maxLength: 120, size: 'max' });
type Arrival = typeof arrival extends fc.Arbitrary<infer T> ? T : never;

interface Sent {
  readonly request: Request;
  readonly atMs: number;
  /** What waited besides it. */
  readonly waiting: readonly Request[];
}

/**
 * Plays a history over the queue as the dispatch loop does: what has expired leaves
 * before anything is sent.
 */
function play(steps: readonly Arrival[]): {
  readonly sent: readonly Sent[];
  readonly expired: readonly Request[];
} {
  const queue = new PriorityQueue({ agingMs: AGING_MS, agingShare: 0.25 });
  const [sent, expired]: [Sent[], Request[]] = [[], []];
  let nowMs = 0;
  const send = () => {
    expired.push(...queue.expired(nowMs));
    const request = queue.pick(nowMs, lane => queue.take(lane, 1)[0]);
    if (request)
      sent.push({
        request,
        atMs: nowMs,
        waiting: listingOf(queue, nowMs).map(view => view.request),
      });
  };
  steps.forEach(({ tenant, afterMs, costMs, startInMs, takes }, index) => {
    nowMs += afterMs;
    queue.enqueue(timedRequest(`r${index}`, { tenant, costMs, enqueuedAtMs: nowMs }, startInMs));
    for (let left = takes; left > 0; left -= 1) send();
  });
  while (queue.depth > 0) {
    nowMs += 1;
    send();
  }
  return { sent, expired };
}

function timedRequest(
  id: string,
  fields: Partial<Request>,
  startInMs: number | undefined,
): Request {
  const request = aRequest(id, fields);
  if (startInMs === undefined) return request;
  const latestStartMs = request.enqueuedAtMs + startInMs;
  const deadline = {
    until: 'answer',
    withinMs: startInMs,
    atMs: latestStartMs,
  } as const;
  return { ...request, latestStartMs, queueDeadlineMs: latestStartMs, deadline };
}

const sameTenant = ({ request, waiting }: Sent): Request[] =>
  waiting.filter(({ tenant }) => tenant === request.tenant);
const startBy = ({ latestStartMs = Infinity, enqueuedAtMs }: Request) =>
  Math.min(latestStartMs, enqueuedAtMs + AGING_MS);

/** Checks each request that was sent against those of its tenant that still waited. */
const always = (check: (sent: Request, other: Request) => void, change: Partial<Arrival> = {}) =>
  fc.assert(
    fc.property(history, steps => {
      for (const one of play(steps.map(step => ({ ...step, ...change }))).sent)
        for (const other of sameTenant(one)) check(one.request, other);
    }),
    { numRuns: 150 },
  );

describe('deadlines in the queue (D-26)', () => {
  it('nothing is started after its latest start, and all that is queued is started or expires, once', () => {
    fc.assert(
      fc.property(history, steps => {
        const { sent, expired } = play(steps);
        for (const { request, atMs } of sent) expect(atMs).toBeLessThan(request.queueDeadlineMs);
        const ids = [...sent.map(({ request }) => request.id), ...expired.map(({ id }) => id)];
        expect([ids.length, new Set(ids).size]).toEqual([steps.length, steps.length]);
      }),
      { numRuns: 150 },
    );
  });

  it('of a tenant the earliest latest start goes; without one, the instant at which a request ages counts', () => {
    always((sent, other) => expect(startBy(sent)).toBeLessThanOrEqual(startBy(other)));
  });

  it('no request is overtaken by one of its tenant that came more than the aging time after it', () => {
    always((sent, other) =>
      expect(sent.enqueuedAtMs - other.enqueuedAtMs).toBeLessThanOrEqual(AGING_MS),
    );
  });

  it('without deadlines each tenant is served first in, first out', () => {
    always((sent, other) => expect(sent.enqueuedAtMs).toBeLessThanOrEqual(other.enqueuedAtMs), {
      startInMs: undefined,
    });
  });
});

describe('deadlines at 110 % load, virtual time', () => {
  it('at least 1.15 times the answers in time of first in, first out, and 1 % of the device time on late ones', () => {
    const [timed, inOrder] = [deadlineLoad(600, false), deadlineLoad(600, true)];
    expect(timed.met).toBeGreaterThanOrEqual(1.15 * inOrder.met);
    expect(timed.late).toBeLessThanOrEqual(0.01);
  });
});

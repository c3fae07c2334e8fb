import { DomainError } from '../errors/domain-error.js';
import { type ServiceEstimate } from '../latency/answer-times.js';
import { type RequestDeadline, type ScheduledRequest } from '../request/scheduled-request.js';

/**
 * What a caller wants, milliseconds. `window`: the end of a batch's completion window,
 * which only decides the order.
 */
export interface WantedDeadline {
  readonly until: RequestDeadline['until'] | 'window';
  /** Milliseconds from the arrival of the request, as the caller set them. */
  readonly withinMs: number;
  /** Milliseconds that are left of it now. */
  readonly leftMs: number;
}

/**
 * Gives a request its latest start: the tightest deadline less the time of its service
 * (D-26). It is refused when it will probably start later, and expires in the queue when
 * that time has come.
 * @returns the request, and why it is refused: it cannot meet its deadline
 */
export function withLatestStart<R extends ScheduledRequest>(
  request: R,
  wanted: readonly WantedDeadline[],
  /** Expected wait and service of the request, milliseconds. */
  estimate: ServiceEstimate & {
    /** Until it starts, from now. Called with its latest start, which decides its place. */
    readonly startMs: (request: ScheduledRequest) => number;
  },
): { readonly request: R; readonly refusal?: DomainError } {
  const starts = wanted.map(deadline => ({
    ...deadline,
    startInMs: deadline.leftMs - serviceMs(deadline, estimate),
  }));
  const [tightest] = starts.sort((a, b) => a.startInMs - b.startInMs);
  if (tightest === undefined) return { request };
  const { until, withinMs, leftMs, startInMs } = tightest;
  const latestStartMs = request.enqueuedAtMs + startInMs;
  if (until === 'window') return { request: { ...request, latestStartMs } };
  const deadline = { until, withinMs, atMs: request.enqueuedAtMs + leftMs };
  const queueDeadlineMs = Math.min(request.queueDeadlineMs, latestStartMs);
  const timed = { ...request, latestStartMs, deadline, queueDeadlineMs };
  const startMs = estimate.startMs(timed);
  if (startMs < startInMs) return { request: timed };
  return {
    request: timed,
    refusal: unreachable(deadline, startMs, serviceMs(tightest, estimate)),
  };
}

const serviceMs = (
  { until }: Pick<WantedDeadline, 'until'>,
  { answerMs, firstOutputMs }: ServiceEstimate,
): number => (until === 'first_output' ? firstOutputMs : answerMs);

function unreachable(deadline: RequestDeadline, startMs: number, workMs: number): DomainError {
  const estimate = `about ${Math.ceil(startMs + workMs)} ms (${Math.ceil(startMs)} ms until it starts)`;
  return new DomainError('deadline_unreachable', `${subjectOf(deadline)} would take ${estimate}.`);
}

/** The error of a request that could not be started in time. */
export const missed = (deadline: RequestDeadline): DomainError =>
  new DomainError(
    'deadline_missed',
    `${subjectOf(deadline)} could not be started in time; it has not been computed.`,
  );

const subjectOf = ({ until, withinMs }: RequestDeadline): string =>
  `The ${until === 'answer' ? 'answer' : 'first output'}, wanted within ${withinMs} ms,`;

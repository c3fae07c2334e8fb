import { HttpConnection, type HttpReply } from '../../support/http-connection.js';
import { pause } from '../../support/waiting.js';
import { type LoadArrivals, type LoadReport } from '../support/load-job.js';
import { type LoadProcess } from '../support/load-process.js';
import { type Contestant, type RequestOptions } from './batching-contestants.js';
import { type Kill } from './batching-table.js';
import { IDEAL_PER_S, SLOW_PER_S } from './device-models.js';
import { cpuMsOf, isGone, rssMibOf } from './peer-process.js';

export type Turn = Record<string, number>;

/** The generators: one for all, and one for a few whose answers are urgent. */
export interface Loads {
  readonly main: LoadProcess;
  readonly urgent: LoadProcess;
}

interface ClosedLoop extends RequestOptions {
  readonly callers: number;
  readonly durationMs: number;
  /**
   * The turn lasts until so many were answered; default: two for each caller, so that a
   * slow contestant has any.
   */
  readonly minAnswers?: number;
}

export async function closed(
  one: Contestant,
  { callers, durationMs, minAnswers = 2 * callers, ...request }: ClosedLoop,
  { main }: Loads,
): Promise<Turn> {
  const beforeMs = cpuMsOf(one);
  const warmupMs = 400 + (callers / IDEAL_PER_S) * 1000;
  const arrivals = { kind: 'closed', callers } as const;
  const report = await main.run({
    ...job(one, request),
    arrivals,
    warmupMs,
    durationMs,
    minAnswers,
  });
  return {
    ...figures(report),
    cpuMs: (cpuMsOf(one) - beforeMs) / Math.max(1, report.answers),
    rssMib: rssMibOf(one),
    generatorCpu: report.generatorCpu,
  };
}

/** Independent callers, at a share of what the device can do. */
export async function open(
  one: Contestant,
  { share, durationMs }: { readonly share: number; readonly durationMs: number },
  { main }: Loads,
): Promise<Turn> {
  const report = await main.run({
    ...job(one),
    arrivals: poisson(share),
    warmupMs: 400,
    durationMs,
  });
  return figures(report);
}

const QUEUED = 1000;
const URGENT_SHARE = 1 / 8;

/** Urgent callers while 1,000 others wait in a closed loop. */
export async function besideQueue(
  one: Contestant,
  durationMs: number,
  { main, urgent }: Loads,
): Promise<Turn> {
  const warmupMs = 1500;
  const [queued, report] = await Promise.all([
    main.run({
      ...{
        ...job(one, { kind: 'bulk' }),
        arrivals: { kind: 'closed', callers: QUEUED },
      },
      ...{ warmupMs, durationMs },
    }),
    urgent.run({
      ...job(one, { kind: 'urgent' }),
      arrivals: poisson(URGENT_SHARE),
      warmupMs,
      durationMs,
    }),
  ]);
  await drained(one);
  const { p50Ms, p99Ms, failed } = figures(report);
  return {
    p50Ms: p50Ms!,
    p99Ms: p99Ms!,
    failed: failed!,
    queuedP50Ms: queued.latencyMs.p50,
  };
}

const OVERLOAD_PER_S = 5 * SLOW_PER_S;
const PATIENCE_MS = 1000;

/**
 * Five times what the device can do, by callers who leave after a second, and say so
 * where that is possible.
 */
export async function overload(
  one: Contestant,
  durationMs: number,
  { main }: Loads,
): Promise<Turn> {
  const report = await main.run({
    ...job(one, { model: 'slow', deadlineMs: PATIENCE_MS }),
    ...{
      arrivals: { kind: 'poisson', ratePerS: OVERLOAD_PER_S },
      patienceMs: PATIENCE_MS,
    },
    ...{ warmupMs: PATIENCE_MS / 2, durationMs },
  });
  const drainedMs = await drained(one);
  const { 0: left = 0, 200: served = 0, ...refusals } = report.statuses;
  const refused = Object.values(refusals).reduce((sum, count) => sum + count, 0);
  const share = (count: number): number => count / Math.max(1, left + served + refused);
  const goodput = report.requestsPerS / SLOW_PER_S;
  const { p50, p99 } = report.latencyMs;
  return {
    goodput,
    p50Ms: p50,
    p99Ms: p99,
    left: share(left),
    refused: share(refused),
    drainedMs,
  };
}

const WAITING = 256;

/**
 * 256 callers leave while their requests wait; how long until the next caller
 * has an answer?
 */
export async function hangUp(one: Contestant): Promise<Turn> {
  const waiting = Array.from({ length: WAITING }, () => new HttpConnection(one.port));
  const left = waiting.map(caller => caller.exchange(one.request()));
  await pause(100);
  const startMs = performance.now();
  for (const caller of waiting) caller.destroy();
  await Promise.all(left);
  const { status } = await once(one);
  const answeredMs = performance.now() - startMs;
  await drained(one);
  return { answeredMs, failed: status === 200 ? 0 : 1 };
}

const UNDERWAY = 200;
const SERVES_LIMIT_MS = 20_000;
/** BullMQ runs the jobs of a lost worker again after 30 to 60 s. */
const ANSWERED_LIMIT_MS = 65_000;

/**
 * kill -9 of the process that runs the device, with 200 requests under way. `lost`
 * takes its time.
 */
export async function killed(
  one: Contestant,
): Promise<Pick<Kill, 'servesAgainMs'> & { lost: Promise<number> }> {
  const callers = Array.from({ length: UNDERWAY }, () => new HttpConnection(one.port));
  const statuses = callers.map(async caller => (await caller.exchange(one.request())).status);
  await pause(150);
  for (const pid of one.devicePids()) process.kill(pid, 'SIGKILL');
  const leave = (): void => callers.forEach(caller => caller.destroy());
  const limit = setTimeout(leave, ANSWERED_LIMIT_MS);
  const lost = Promise.all(statuses).then(all => {
    clearTimeout(limit);
    leave();
    return all.filter(status => status !== 200).length;
  });
  return { lost, servesAgainMs: await untilServed(one, SERVES_LIMIT_MS) };
}

/**
 * Milliseconds until a request is answered within half a second, at most 30 s: what a
 * scene left behind is not the next one's.
 */
async function drained(one: Contestant): Promise<number> {
  const startMs = performance.now();
  while (performance.now() - startMs < 30_000) {
    const askedMs = performance.now();
    await once(one, 30_000);
    if (performance.now() - askedMs < 500) break;
  }
  return performance.now() - startMs;
}

/** Milliseconds until a new request is answered; null: not within the limit. */
async function untilServed(one: Contestant, limitMs: number): Promise<number | null> {
  const startMs = performance.now();
  const passedMs = (): number => performance.now() - startMs;
  for (; passedMs() < limitMs && !isGone(one); await pause(50)) {
    if ((await once(one, 1000)).status === 200) return passedMs();
  }
  return null;
}

/** One request on a connection of its own; status 0 after the limit. */
async function once(one: Contestant, limitMs = 30_000): Promise<HttpReply> {
  const connection = new HttpConnection(one.port);
  const limit = setTimeout(() => connection.destroy(), limitMs);
  const reply = await connection.exchange(one.request());
  clearTimeout(limit);
  connection.destroy();
  return reply;
}

const job = (one: Contestant, request: RequestOptions = {}) => ({
  ...{ port: one.port, request: one.request(request) },
  anyStatus: true,
});

const poisson = (share: number): LoadArrivals => ({
  kind: 'poisson',
  ratePerS: share * IDEAL_PER_S,
});

function figures({ requestsPerS, latencyMs, statuses }: LoadReport): Turn {
  const { 200: served = 0, ...others } = statuses;
  const failed = Object.values(others).reduce((sum, count) => sum + count, 0);
  return {
    fraction: requestsPerS / IDEAL_PER_S,
    p50Ms: latencyMs.p50,
    p99Ms: latencyMs.p99,
    failed: failed / Math.max(1, served + failed),
  };
}

import { type Distribution, distribution } from '../percentiles.js';
import { fairness } from './fair-jobs.js';
import { type DeviceCost } from './simulated-worker.js';
import { type TraceRequest } from './trace.js';
import { VirtualGateway } from './virtual-gateway.js';

const MODEL = 'm';
const WORKERS = 4;
/** How long all three send or wait. */
const FOR_MS = 300_000;
const QUEUED = { flood: 10_000, middle: 2000 } as const;

export interface SharesReport {
  /** Of completed requests of the two that always wait. */
  readonly jain: number;
  readonly completed: Readonly<Record<string, number>>;
  /** Of one request per second, in milliseconds. */
  readonly steadyWaitMs: Distribution;
  readonly utilisation: number;
}

/**
 * Three tenants for five minutes: two with a backlog at the beginning, the larger one
 * first, and one that sends a request per second.
 * @param shares false: one order for all, by time
 */
export function tenantShares(cost: DeviceCost, shares: boolean): SharesReport {
  const rules = { queueTimeoutMs: Infinity, bounds: ENDLESS };
  const gateway = new VirtualGateway({
    workers: new Map([[MODEL, WORKERS]]),
    cost,
    rules,
    shares,
  });
  gateway.replay([...backlog('flood'), ...backlog('middle'), ...steady()]);
  gateway.run(FOR_MS);
  const { tenants, tenantWaitsMs } = gateway.book;
  const completed = Object.fromEntries(
    ['flood', 'middle', 'steady'].map(name => [name, tenants.get(name) ?? 0]),
  );
  // Those that were never sent have waited until now.
  const sent = tenantWaitsMs.get('steady') ?? [];
  const waiting = steady().slice(sent.length);
  const waits = [...sent, ...waiting.map(({ atMs }) => FOR_MS - atMs)];
  const busyMs = gateway.pool.workers.reduce((sum, { deviceBusyMs }) => sum + deviceBusyMs, 0);
  return {
    jain: fairness([completed.flood ?? 0, completed.middle ?? 0]),
    completed,
    steadyWaitMs: distribution(waits),
    utilisation: busyMs / (WORKERS * FOR_MS),
  };
}

const ENDLESS = {
  maxRequests: 1e9,
  maxRequestsPerModel: 1e9,
  maxBytes: 1e15,
  maxBytesPerModel: 1e15,
  realtimeReserve: 0,
};

const one = (tenant: string, atMs: number): TraceRequest => ({
  atMs,
  tenant,
  model: MODEL,
  priority: 'batch',
});

const backlog = (tenant: keyof typeof QUEUED): TraceRequest[] =>
  Array.from({ length: QUEUED[tenant] }, () => one(tenant, 0));

const steady = (): TraceRequest[] =>
  Array.from({ length: FOR_MS / 1000 - 1 }, (_, second) => one('steady', 1000 * (second + 1)));

const round = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;

export const describeShares = (
  name: string,
  { jain, completed, steadyWaitMs, utilisation }: SharesReport,
): string =>
  `  ${name.padEnd(16)} flood ${completed.flood}, middle ${completed.middle}, steady ${completed.steady};` +
  ` Jain ${jain.toFixed(3)}; steady waits p50 ${round(steadyWaitMs.p50)}, p99 ${round(steadyWaitMs.p99)},` +
  ` max ${round(steadyWaitMs.max)}; devices ${(100 * utilisation).toFixed(1)} % busy`;

import { setImmediate as turn } from 'node:timers/promises';
import { jest } from '@jest/globals';
import { channelSecurity } from '@switchyard/worker-protocol/channel-security.js';
import { type WorkerHealthReport } from '@switchyard/worker-protocol/health.codec.js';
import { Subject } from 'rxjs';
import { PooledWorker } from '../../src/gateway/worker-pool/pooled-worker.js';
import { type LocationEvents } from '../../src/gateway/worker-pool/worker-location.js';
import { settingsFrom } from '../../src/platform/config/settings.js';
import { modelSpec } from './pool-harness.js';

export const REPORT: WorkerHealthReport = {
  ...{ state: 'ready', model: 'm', kind: 'llm', capabilities: ['generate'], languages: [] },
  ...{ engine: 'e', device: '', revision: '', maxBatch: 2, maxConcurrent: 4, streams: 1 },
  ...{ inFlight: 0, maxMessageBytes: 2 ** 30 },
} as never;

export const unreachable = () => Promise.reject(new Error('no answer', { cause: { code: 14 } }));

/** Until what was reported last has been handled. */
export async function settled(): Promise<void> {
  for (let turns = 0; turns < 3; turns++) await turn();
}

export interface WorkerGiven {
  readonly status?: object;
  readonly isElsewhere?: boolean;
  readonly isShared?: boolean;
  readonly isRestartable?: boolean;
  readonly device?: string;
}

/** Those that `pooledWorker` made; to be closed after each test. */
export const openWorkers: PooledWorker[] = [];

/** A worker in this process that reports what the test says, at a location that does nothing. */
export function pooledWorker({
  status = {},
  isElsewhere,
  isShared = false,
  ...given
}: WorkerGiven = {}) {
  const now = { ms: 0 };
  const events: unknown[] = [];
  const probe = jest.fn(() => Promise.resolve(REPORT));
  let reported: LocationEvents | undefined;
  const location = {
    status: { restarts: 0, pid: 7, ...status },
    ...(isElsewhere && { isElsewhere }),
    start: (listener: LocationEvents) => void (reported = listener),
    onProbe: jest.fn(),
    onHung: jest.fn(),
    stop: jest.fn(() => Promise.resolve()),
    ...((given.isRestartable ?? true) && { restart: jest.fn() }),
  };
  const activity = new Subject<unknown>();
  activity.subscribe(event => events.push(event));
  const executed = new Subject<unknown>();
  executed.subscribe(event => events.push(event));
  const levels: string[] = [];
  const options = {
    settings: settingsFrom({ 'workers.health_failures': 2, 'workers.breaker_failures': 2 }),
    ...{ clock: { nowMs: () => now.ms }, activity, executed, location, isShared },
    onCapacity: () => events.push('capacity'),
    onReturn: () => events.push('return'),
    ...{ id: 'm-0', model: modelSpec({ kind: 'llm' }), replica: {}, pulls: false },
    ...{ device: given.device, security: () => channelSecurity() },
    log: { say: (level: string, message: string) => levels.push(`${level} ${message}`) },
  };
  const worker = new PooledWorker(options as never);
  openWorkers.push(worker);
  const inner = { report: probe, abortAll: jest.fn(), close: () => Promise.resolve() };
  const process = {
    start: () => {
      worker.start();
      reported!.onStarting();
    },
    reachable: () => reported!.onReachable(inner as never),
    ready: async () => {
      reported!.onReady();
      await settled();
    },
    gone: () => reported!.onGone(),
  };
  /** Up to its first report. */
  const up = async () => {
    process.start();
    process.reachable();
    await process.ready();
    events.length = 0;
  };
  const probed = async (report: Partial<WorkerHealthReport>) => {
    probe.mockResolvedValue({ ...REPORT, ...report });
    await process.ready();
  };
  return { worker, location, events, levels, probe, inner, process, up, probed, now };
}

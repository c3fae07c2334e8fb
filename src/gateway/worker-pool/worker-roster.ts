import { Logger } from '@nestjs/common';
import {
  type ModelKind,
  modelOn,
  type ModelSpec,
  type ReplicaSpec,
  replicaSpecs,
} from '../../platform/config/model-spec.js';
import { type Settings } from '../../platform/config/settings.js';
import { maxMessageBytes, workerSpec } from '../../platform/config/worker-spec.js';
import { ProcessLog } from '../../platform/process/process-log.js';
import { RestartBackoff } from '../../platform/process/restart-backoff.js';
import { type RemoteEndpoint } from './address-watch.js';
import { type ChannelSecurity, UNPROTECTED } from './channel-security.js';
import { type GenerationCounts } from './generation-totals.js';
import { PooledWorker } from './pooled-worker.js';
import { RemoteHome, type WorkerLocation } from './worker-home.js';
import { type WorkerLaunch } from './worker-launch.js';
import { WorkerSupervisor } from './worker-supervisor.js';

export interface WorkerName {
  readonly id: string;
  readonly model: string;
}

export interface RosterOptions {
  readonly settings: Settings;
  readonly launch: WorkerLaunch;
  /** Monotonic milliseconds. */
  nowMs(): number;
  onCapacity(model: string): void;
  onRestart(worker: WorkerName): void;
  onGeneration(worker: WorkerName, counts: GenerationCounts): void;
}

interface Placement {
  readonly id: string;
  readonly device?: string;
  readonly home: (log: ProcessLog) => WorkerLocation;
  security(): ChannelSecurity;
}

/**
 * The local workers of a model, not started: `MODEL-0`, `MODEL-1`, …, as many as `replicas` says. Ids are stable across
 * restarts and loads: they are metric labels.
 */
export function localWorkers(model: ModelSpec, options: RosterOptions): PooledWorker[] {
  return replicaSpecs(model).map((replica, index) => {
    const id = `${model.id}-${index}`;
    const { device = optionDevice(model) } = replica;
    const home = (log: ProcessLog) => supervisor({ model, id, replica, log }, options);
    return pooledWorker(model, { id, home, security: () => UNPROTECTED, ...(device && { device }) }, options);
  });
}

/** The worker behind an address, not started: `MODEL@host:port`. */
export function remoteWorker(
  model: ModelSpec,
  { address, host }: RemoteEndpoint,
  options: RosterOptions & { security(): ChannelSecurity },
): PooledWorker {
  const security = () => ({ serverName: host, ...options.security() });
  const id = remoteWorkerId(model, address);
  return pooledWorker(model, { id, home: () => new RemoteHome(address), security }, options);
}

export const remoteWorkerId = (model: ModelSpec, address: string): string => `${model.id}@${address}`;

const LOOPBACK = '127.0.0.1';

interface Seat {
  readonly model: ModelSpec;
  readonly id: string;
  readonly replica: ReplicaSpec;
  readonly log: ProcessLog;
}

function supervisor({ model, id, replica, log }: Seat, options: RosterOptions): WorkerSupervisor {
  const { settings, launch } = options;
  const { restartMinMs, restartMaxMs, startTimeoutMs } = settings.workers;
  const spec = workerSpec({ workerId: id, model: modelOn(model, replica), host: LOOPBACK, port: 0 }, settings);
  return new WorkerSupervisor({
    command: launch.command,
    args: launch.args,
    env: launch.environment(spec, replica.env),
    host: LOOPBACK,
    startTimeoutMs,
    stopGraceMs: launch.stopGraceMs,
    backoff: new RestartBackoff({ firstMs: restartMinMs, longestMs: restartMaxMs }),
    log,
    nowMs: () => options.nowMs(),
    onRestart: () => options.onRestart({ id, model: model.id }),
  });
}

function pooledWorker(model: ModelSpec, placement: Placement, options: RosterOptions): PooledWorker {
  const { workers, server, cancellation } = options.settings;
  const { home, ...place } = placement;
  const log = new ProcessLog(new Logger('Worker'), place.id);
  return new PooledWorker({
    ...place,
    model: model.id,
    kind: model.kind,
    home: home(log),
    connection: {
      limits: {
        maxMessageBytes: maxMessageBytes(server.uploadLimitBytes),
        keepaliveTimeMs: workers.keepaliveTimeMs,
        keepaliveTimeoutMs: workers.keepaliveTimeoutMs,
      },
      stop: { timeoutMs: cancellation.rpcTimeoutMs, resetAfterMs: cancellation.resetAfterMs },
      health: {
        intervalMs: workers.healthIntervalMs,
        timeoutMs: workers.healthTimeoutMs,
        failures: workers.healthFailures,
      },
    },
    breaker: { failures: workers.breakerFailures, minMs: workers.breakerMinMs, maxMs: workers.breakerMaxMs },
    neededMessageBytes: neededMessageBytes(model.kind, server.uploadLimitBytes),
    log,
    nowMs: () => options.nowMs(),
    onCapacity: () => options.onCapacity(model.id),
    onGeneration: counts => options.onGeneration({ id: place.id, model: model.id }, counts),
  });
}

/** Of speech synthesis: the longest text, whatever its alphabet. */
const SPEECH_BYTES = 1_048_576;

/** The largest message that a worker of that kind is sent. */
const neededMessageBytes = (kind: ModelKind, uploadLimitBytes: number): number =>
  kind === 'tts' ? SPEECH_BYTES : maxMessageBytes(uploadLimitBytes);

/** A device that all local workers of the model share. */
const optionDevice = ({ options: { device } }: ModelSpec): string | undefined =>
  typeof device === 'string' ? device : undefined;

import { fileURLToPath } from 'node:url';
import { Logger } from '@nestjs/common';
import {
  type ModelKind,
  modelOn,
  type ModelSpec,
  type ReplicaSpec,
  replicaSpecs,
} from '../../platform/config/model-spec.js';
import { type Settings } from '../../platform/config/settings.js';
import {
  fetchRules,
  maxMessageBytes,
  pulledWork,
  workerEnvironment,
  workerSpec,
  type WorkerSpec,
} from '../../platform/config/worker-spec.js';
import { ProcessLog } from '../../platform/process/process-log.js';
import { RestartBackoff } from '../../platform/process/restart-backoff.js';
import { type RemoteEndpoint } from './address-watch.js';
import { type ChannelSecurity, UNPROTECTED } from './channel-security.js';
import { PooledWorker } from './pooled-worker.js';
import { type GenerationCounts } from './worker-connection.js';
import { LocalLocation, RemoteLocation, type WorkerLocation } from './worker-location.js';

/** How local workers are started. Tests start another program. */
export interface WorkerLaunch {
  readonly command: string;
  readonly args: readonly string[];
  /** @param added what the replica's configuration puts into the environment of its process */
  environment(spec: WorkerSpec, added?: NodeJS.ProcessEnv): NodeJS.ProcessEnv;
  /** Between SIGTERM and SIGKILL at the end: by then no request is left, so a sound worker needs no time at all. */
  readonly stopGraceMs: number;
}

/** Injection token of the `WorkerLaunch`. */
export const WORKER_LAUNCH = Symbol('WORKER_LAUNCH');

/** The worker of this build, run by the Node that runs the gateway; it may fetch audio by URL as the settings say. */
export const builtWorkerLaunch = (settings: Settings): WorkerLaunch => ({
  command: process.execPath,
  args: ['--enable-source-maps', fileURLToPath(new URL('../../main.worker.js', import.meta.url))],
  environment: (spec, added) =>
    workerEnvironment({ ...spec, fetch: fetchRules(settings), ...pulledWork(spec.model, settings) }, undefined, added),
  stopGraceMs: 2000,
});

export interface WorkerName {
  readonly id: string;
  readonly model: string;
}

export interface WorkerRosterOptions {
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
  readonly location: (log: ProcessLog) => WorkerLocation;
  security(): ChannelSecurity;
}

/**
 * The local workers of a model, not started: `MODEL-0`, `MODEL-1`, …, as many as `replicas` says. Ids are stable across
 * restarts and loads: they are metric labels.
 */
export function localWorkers(model: ModelSpec, options: WorkerRosterOptions): PooledWorker[] {
  return replicaSpecs(model).map((replica, index) => {
    const id = `${model.id}-${index}`;
    const { device = optionDevice(model) } = replica;
    const location = (log: ProcessLog) => localLocation({ model, id, replica, log }, options);
    return pooledWorker(model, { id, location, security: () => UNPROTECTED, device }, options);
  });
}

/** The worker behind an address, not started: `MODEL@host:port`. */
export function remoteWorker(
  model: ModelSpec,
  { address, host }: RemoteEndpoint,
  options: WorkerRosterOptions & { security(): ChannelSecurity },
): PooledWorker {
  const security = () => ({ serverName: host, ...options.security() });
  const id = remoteWorkerId(model, address);
  return pooledWorker(model, { id, location: () => new RemoteLocation(address), security }, options);
}

export const remoteWorkerId = (model: ModelSpec, address: string): string => `${model.id}@${address}`;

const LOOPBACK = '127.0.0.1';

interface Replica {
  readonly model: ModelSpec;
  readonly id: string;
  readonly replica: ReplicaSpec;
  readonly log: ProcessLog;
}

function localLocation({ model, id, replica, log }: Replica, options: WorkerRosterOptions): LocalLocation {
  const { settings, launch } = options;
  const { restartMinMs, restartMaxMs, startTimeoutMs } = settings.workers;
  const spec = workerSpec({ workerId: id, model: modelOn(model, replica), host: LOOPBACK, port: 0 }, settings);
  return new LocalLocation({
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

function pooledWorker(model: ModelSpec, placement: Placement, options: WorkerRosterOptions): PooledWorker {
  const { workers, server, cancellation } = options.settings;
  const { id, device, location } = placement;
  const log = new ProcessLog(new Logger('Worker'), id);
  return new PooledWorker({
    id,
    model: model.id,
    kind: model.kind,
    device,
    location: location(log),
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
    security: () => placement.security(),
    nowMs: () => options.nowMs(),
    onCapacity: () => options.onCapacity(model.id),
    onGeneration: counts => options.onGeneration({ id, model: model.id }, counts),
  });
}

/** For speech synthesis: the longest text in any alphabet. */
const SPEECH_BYTES = 1_048_576;

/** The largest message that a worker of that kind is sent. */
const neededMessageBytes = (kind: ModelKind, uploadLimitBytes: number): number =>
  kind === 'tts' ? SPEECH_BYTES : maxMessageBytes(uploadLimitBytes);

/** A device that all local workers of the model share. */
const optionDevice = ({ options: { device } }: ModelSpec): string | undefined =>
  typeof device === 'string' ? device : undefined;

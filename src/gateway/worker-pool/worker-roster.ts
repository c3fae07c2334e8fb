import { fileURLToPath } from 'node:url';
import { Logger } from '@nestjs/common';
import { modelOn, type ModelSpec, type ReplicaSpec, replicaSpecs } from '../../platform/config/model-spec.js';
import { inheritedEnvironment } from '../../platform/config/process-environment.js';
import { type Settings } from '../../platform/config/settings.js';
import {
  type BridgedWorker,
  EXTERNAL_GRACE_MS,
  fetchRules,
  isBridged,
  maxMessageBytes,
  pulledWork,
  workerCare,
  workerEnvironment,
  workerSpec,
  type WorkerSpec,
} from '../../platform/config/worker-spec.js';
import { ProcessLog } from '../../platform/process/process-log.js';
import { RestartBackoff } from '../../platform/process/restart-backoff.js';
import { type RemoteEndpoint } from './address-watch.js';
import { type ChannelSecurity, UNPROTECTED } from './channel-security.js';
import { PooledWorker } from './pooled-worker.js';
import { InProcessLocation } from './in-process-location.js';
import { type InProcessWorker, type OpenInProcessWorker } from './in-process-worker.js';
import { neededMessageBytes } from './report-check.js';
import { type GenerationCounts } from './worker-connection.js';
import { CommandLocation, LocalLocation, RemoteLocation, type WorkerLocation } from './worker-location.js';

/** How local workers are started. Tests start another program. */
export interface WorkerLaunch {
  readonly command: string;
  readonly args: readonly string[];
  environment(spec: WorkerSpec, replica?: ReplicaSpec): NodeJS.ProcessEnv;
  /** Between SIGTERM and SIGKILL at the end: by then no request is left, so a sound worker needs no time at all. */
  readonly stopGraceMs: number;
  /** Workers that need no process; absent: each has one. */
  readonly inner?: OpenInProcessWorker | undefined;
}

/** Injection token of the `WorkerLaunch`. */
export const WORKER_LAUNCH = Symbol('WORKER_LAUNCH');

/** The worker of this build, run by the Node that runs the gateway; it may fetch audio by URL as the settings say. */
export const builtWorkerLaunch = (settings: Settings, inner?: OpenInProcessWorker): WorkerLaunch => ({
  command: process.execPath,
  args: ['--enable-source-maps', fileURLToPath(new URL('../../main.worker.js', import.meta.url))],
  environment: (spec, replica) => {
    const pulled = pulledWork(spec.model, settings, replica);
    return workerEnvironment({ ...spec, fetch: fetchRules(settings), ...pulled }, undefined, replica?.env);
  },
  stopGraceMs: 2000,
  inner,
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
  onExit(worker: WorkerName, pid: number | undefined): void;
  onLoadFailed(model: string): void;
  onGeneration(worker: WorkerName, counts: GenerationCounts): void;
}

interface Placement {
  readonly id: string;
  readonly isRemote?: boolean;
  readonly replica?: ReplicaSpec;
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
    const make = model.engine === 'external' && !isBridged(model, options.settings) ? commandLocation : localLocation;
    const location = (log: ProcessLog) => make({ model, id, replica, log }, options);
    return pooledWorker(model, { id, location, security: () => UNPROTECTED, replica }, options);
  });
}

/** The worker behind an address, not started: `MODEL@host:port`. */
export function remoteWorker(
  model: ModelSpec,
  { address, host }: RemoteEndpoint,
  options: WorkerRosterOptions & { security(): ChannelSecurity },
): PooledWorker {
  const id = remoteWorkerId(model, address);
  const place = { id, isRemote: true };
  if (isBridged(model, options.settings)) {
    const bridged = { address, remote: model.remote, ...(host !== undefined && { serverName: host }) };
    const location = (log: ProcessLog) => localLocation({ model, id, replica: {}, bridged, log }, options);
    return pooledWorker(model, { ...place, location, security: () => UNPROTECTED }, options);
  }
  const security = () => ({ serverName: host, ...options.security() });
  return pooledWorker(model, { ...place, location: () => new RemoteLocation(address), security }, options);
}

export const remoteWorkerId = (model: ModelSpec, address: string): string => `${model.id}@${address}`;

const LOOPBACK = '127.0.0.1';

interface Replica {
  readonly model: ModelSpec;
  readonly id: string;
  readonly replica: ReplicaSpec;
  /** The foreign worker that it bridges to. */
  readonly bridged?: Omit<BridgedWorker, 'care'>;
  readonly log: ProcessLog;
}

function localLocation(place: Replica, options: WorkerRosterOptions): WorkerLocation {
  const { model, id, replica } = place;
  const { settings, launch } = options;
  const isBridge = isBridged(model, options.settings);
  const own = workerSpec({ workerId: id, model: modelOn(model, replica), host: LOOPBACK, port: 0 }, settings);
  // An environment or cores of its own ask for a process.
  const open = replica.env === undefined && replica.cores === undefined ? launch.inner?.(own) : undefined;
  if (open) return innerLocation(place, open, options);
  const bridged = { env: replica.env, ...place.bridged, care: workerCare(settings) };
  const spec = isBridge ? { ...own, bridged } : own;
  const [command = '', ...args] = onCores(replica, [launch.command, ...launch.args]);
  return new LocalLocation({
    ...supervision(place, options),
    ...{ command, args },
    env: launch.environment(spec, isBridge ? { role: replica.role } : replica),
    host: LOOPBACK,
    stopGraceMs: launch.stopGraceMs + (isBridge ? EXTERNAL_GRACE_MS : 0),
  });
}

function innerLocation(place: Replica, open: () => InProcessWorker, options: WorkerRosterOptions): InProcessLocation {
  const { log, onRestart, onStartFailed } = supervision(place, options);
  return new InProcessLocation({ open, retryMs: options.settings.workers.restartMaxMs, log, onRestart, onStartFailed });
}

function commandLocation(place: Replica, options: WorkerRosterOptions): CommandLocation {
  const { model, replica } = place;
  const { device = optionDevice(model) ?? '' } = replica;
  return new CommandLocation({
    ...supervision(place, options),
    command: onCores(replica, model.command ?? []),
    values: { host: LOOPBACK, model: model.id, device },
    env: { ...inheritedEnvironment(), ...replica.env },
    stopGraceMs: EXTERNAL_GRACE_MS,
  });
}

/** `taskset` becomes the program that it starts, so its pid and signals are those of the worker. */
const onCores = ({ cores }: ReplicaSpec, command: readonly string[]): readonly string[] =>
  cores === undefined ? command : ['taskset', '-c', cores, ...command];

function supervision({ model, id, log }: Replica, options: WorkerRosterOptions) {
  const { restartMinMs, restartMaxMs, startTimeoutMs } = options.settings.workers;
  return {
    startTimeoutMs,
    backoff: new RestartBackoff({ firstMs: restartMinMs, longestMs: restartMaxMs }),
    log,
    nowMs: () => options.nowMs(),
    onRestart: () => options.onRestart({ id, model: model.id }),
    onExit: (pid: number | undefined) => options.onExit({ id, model: model.id }, pid),
    onStartFailed: () => options.onLoadFailed(model.id),
  };
}

function pooledWorker(model: ModelSpec, placement: Placement, options: WorkerRosterOptions): PooledWorker {
  const { workers, server } = options.settings;
  const { id, isRemote = false, replica, location } = placement;
  const log = new ProcessLog(new Logger('Worker'), id);
  return new PooledWorker({
    id,
    model: model.id,
    kind: model.kind,
    device: replica && (replica.device ?? optionDevice(model)),
    role: replica?.role ?? 'any',
    isRemote,
    pulls: pulledWork(model, options.settings, replica).sharedQueue !== undefined,
    location: location(log),
    connection: {
      limits: {
        maxMessageBytes: maxMessageBytes(server.uploadLimitBytes),
        keepaliveTimeMs: workers.keepaliveTimeMs,
        keepaliveTimeoutMs: workers.keepaliveTimeoutMs,
      },
      ...workerCare(options.settings),
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

/** A device that all local workers of the model share. */
const optionDevice = ({ options: { device } }: ModelSpec): string | undefined =>
  typeof device === 'string' ? device : undefined;

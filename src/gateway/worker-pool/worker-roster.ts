import { fileURLToPath } from 'node:url';
import { Logger } from '@nestjs/common';
import { RestartBackoff } from '@switchyard/engine-api/process/restart-backoff.js';
import {
  type ChannelSecurity,
  knownAs,
  localSecurity,
} from '@switchyard/worker-protocol/channel-security.js';
import { localToken, LOCAL_TOKEN_VARIABLE } from '@switchyard/worker-protocol/local-token.js';
import { filledIn } from '../../platform/config/model-fields.js';
import {
  modelOn,
  type ModelSpec,
  type ReplicaSpec,
  replicaSpecs,
} from '../../platform/config/model-spec.js';
import { inheritedEnvironment } from '../../platform/config/process-environment.js';
import { type Settings } from '../../platform/config/settings.js';
import {
  type BridgedWorker,
  EXTERNAL_GRACE_MS,
  fetchRules,
  isBridged,
  pulledWork,
  workerCare,
  workerEnvironment,
  workerSpec,
} from '../../platform/config/worker-spec.js';
import { ProcessLog } from '../../platform/logging/process-log.js';
import { freePort } from '../../platform/process/listen-check.js';
import { type OpenInProcessWorker } from '../../worker-client/in-process-worker.js';
import { type RemoteEndpoint } from './address-watch.js';
import { ElsewhereLocation, type WorkerElsewhere } from './elsewhere-location.js';
import { PooledWorker } from './pooled-worker.js';
import {
  InProcessLocation,
  ProcessLocation,
  remoteLocation,
  type WorkerLaunch,
  type WorkerLocation,
} from './worker-location.js';
import { type WorkerOwner, type WorkerPlace } from './worker-owner.js';

/** Injection token of the `WorkerLaunch`. */
export const WORKER_LAUNCH = Symbol('WORKER_LAUNCH');

/**
 * The worker of this build, run by the Node that runs the gateway; it may fetch audio by
 * URL as the settings say.
 */
export const builtWorkerLaunch = (
  settings: Settings,
  inner?: OpenInProcessWorker,
): WorkerLaunch => ({
  command: process.execPath,
  args: [fileURLToPath(new URL('../../../dist/main.worker.js', import.meta.url))],
  environment: (spec, replica) => {
    const pulled = pulledWork(spec.model, settings, replica);
    return workerEnvironment(
      { ...spec, fetch: fetchRules(settings), ...pulled },
      undefined,
      replica?.env,
    );
  },
  stopGraceMs: 2000,
  inner,
});

interface Place extends WorkerPlace {
  /** The worker outside of the pool that it passes requests on to. */
  readonly bridged?: Omit<BridgedWorker, 'care'>;
}

type Locate = (place: Place, log: ProcessLog, options: WorkerOwner) => WorkerLocation;

/**
 * The local workers of a model, not started: `MODEL-0`, `MODEL-1`, …, as many as
 * `replicas` says. Ids are stable across restarts and loads: they are metric labels.
 */
export function localWorkers(model: ModelSpec, options: WorkerOwner): PooledWorker[] {
  const isCommand = model.engine === 'external' && !isBridged(model, options.settings);
  const locate = isCommand ? commandLocation : builtLocation;
  return replicaSpecs(model).map((replica, index) => {
    const id = `${model.id}-${index}`;
    const place = { model, id, replica, security: () => localSecurity(localToken(id)) };
    const { device } = modelOn(model, replica).options;
    return pooledWorker({ ...place, device: text(device) }, locate, options);
  });
}

/** The worker behind an address, not started: `MODEL@host:port`. */
export function remoteWorker(
  model: ModelSpec,
  { address, host }: RemoteEndpoint,
  security: () => ChannelSecurity,
  options: WorkerOwner,
): PooledWorker {
  const place = {
    model,
    id: remoteWorkerId(model, address),
    replica: {},
    isRemote: true,
    security: () => knownAs(security(), host),
  };
  if (!isBridged(model, options.settings))
    return pooledWorker(place, () => remoteLocation(address), options);
  // Its bridge is local, and connects to it.
  const bridged = { address, remote: model.remote, serverName: host };
  const bridge = { ...place, bridged, security: () => localSecurity(localToken(place.id)) };
  return pooledWorker(bridge, builtLocation, options);
}

/**
 * One that another gateway of this machine runs, not started: with the id that it has there. It
 * gets text and live streams; the rest is pulled.
 */
export function workerElsewhere(
  model: ModelSpec,
  worker: WorkerElsewhere,
  options: WorkerOwner,
): PooledWorker {
  const location = new ElsewhereLocation(worker);
  const security = (): ChannelSecurity => localSecurity(location.token);
  const replica: ReplicaSpec = model.kind === 'llm' ? {} : { role: 'stream' };
  const place = { model, id: worker.workerId, replica, security };
  return pooledWorker(place, () => location, options);
}

export const remoteWorkerId = (model: ModelSpec, address: string): string =>
  `${model.id}@${address}`;

const LOOPBACK = '127.0.0.1';
/** The longest that a timer of Node can be. */
const MAX_GRACE_MS = 2 ** 31 - 1;

const builtLocation: Locate = (place, log, options) => {
  const { model, id, replica } = place;
  const { settings, launch } = options;
  const isBridge = isBridged(model, settings);
  const own = workerSpec(
    { workerId: id, model: modelOn(model, replica), host: LOOPBACK, port: 0 },
    settings,
  );
  // An environment or cores of its own ask for a process; memory of a device is free when one ends.
  const isInner =
    replica.env === undefined && replica.cores === undefined && model.device === undefined;
  const open = isInner ? launch.inner?.(own) : undefined;
  const shared = supervision(place, log, options);
  if (open)
    return new InProcessLocation({
      ...shared,
      open,
      retryMs: settings.workers.restartMaxMs,
    });
  const bridged = { env: replica.env, ...place.bridged, care: workerCare(settings) };
  // This process knows better how long it may drain, and ends it.
  const supervised = { localToken: localToken(id), shutdownGraceMs: MAX_GRACE_MS };
  const spec = { ...own, ...supervised, ...(isBridge && { bridged }) };
  const [command = '', ...args] = onCores(replica, [launch.command, ...launch.args]);
  return new ProcessLocation({
    ...shared,
    command,
    args,
    env: launch.environment(spec, isBridge ? { role: replica.role } : replica),
    host: LOOPBACK,
    stopGraceMs: launch.stopGraceMs + (isBridge ? EXTERNAL_GRACE_MS : 0),
  });
};

/**
 * A worker in any language: told its port by its arguments, probed from its start, ready
 * when its Health says so.
 */
const commandLocation: Locate = (place, log, options) => {
  const { model, replica, device = '' } = place;
  const [program = '', ...args] = onCores(replica, model.command ?? []);
  const values = { host: LOOPBACK, model: model.id, device };
  let port = '';
  return new ProcessLocation({
    ...supervision(place, log, options),
    foreign: true,
    command: filledIn(program, { ...values, port }),
    args: async () => {
      port = String(await freePort(LOOPBACK));
      return args.map(argument => filledIn(argument, { ...values, port }));
    },
    address: () => `${LOOPBACK}:${port}`,
    env: {
      ...inheritedEnvironment(),
      [LOCAL_TOKEN_VARIABLE]: localToken(place.id),
      ...replica.env,
    },
    host: LOOPBACK,
    stopGraceMs: EXTERNAL_GRACE_MS,
  });
};

/**
 * `taskset` becomes the program that it starts, so its pid and signals are those
 * of the worker.
 */
const onCores = ({ cores }: ReplicaSpec, command: readonly string[]): readonly string[] =>
  cores === undefined ? command : ['taskset', '-c', cores, ...command];

function supervision({ model, id }: Place, log: ProcessLog, options: WorkerOwner) {
  const { restartMinMs, restartMaxMs, startTimeoutMs, startLimitMs } = options.settings.workers;
  const worker = { worker: id, model: model.id };
  return {
    startTimeoutMs,
    startLimitMs,
    turn: () => options.starts.take(model.defaultPriority === 'realtime'),
    backoff: new RestartBackoff({ firstMs: restartMinMs, longestMs: restartMaxMs }),
    log,
    nowMs: () => options.clock.nowMs(),
    onRestart: () => options.activity.next({ type: 'restarted', ...worker }),
    onExit: (pid: number | undefined) => options.activity.next({ type: 'exited', ...worker, pid }),
    onStartFailed: () => options.activity.next({ type: 'load_failed', model: model.id }),
  };
}

function pooledWorker(place: Place, locate: Locate, options: WorkerOwner): PooledWorker {
  const { model, id, replica } = place;
  const log = new ProcessLog(new Logger('Worker'), id);
  const location = locate(place, log, options);
  const { pull, sharedQueue } = pulledWork(model, options.settings, replica);
  const isShared = sharedQueue !== undefined && !location.isElsewhere;
  const pulls = pull !== undefined && !location.isElsewhere;
  return new PooledWorker({ ...options, ...place, pulls, isShared, location, log });
}

const text = (value: unknown): string | undefined =>
  typeof value === 'string' ? value : undefined;

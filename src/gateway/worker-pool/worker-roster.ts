import { Logger } from '@nestjs/common';
import { type ModelSpec } from '../../platform/config/model-spec.js';
import { type Settings } from '../../platform/config/settings.js';
import { maxMessageBytes, type WorkerSpec } from '../../platform/config/worker-spec.js';
import { PooledWorker } from './pooled-worker.js';
import { RestartBackoff } from './supervisor/restart-backoff.js';
import { WorkerLog } from './supervisor/worker-log.js';
import { WorkerSupervisor } from './supervisor/worker-supervisor.js';
import { RemoteHome, type WorkerHome } from './worker-home.js';
import { type WorkerLaunch } from './worker-launch.js';

export interface RosterOptions {
  readonly settings: Settings;
  readonly models: readonly ModelSpec[];
  readonly launch: WorkerLaunch;
  /** Monotonic milliseconds. */
  nowMs(): number;
  onCapacity(model: string): void;
  onRestart(worker: { readonly id: string; readonly model: string }): void;
}

const LOOPBACK = '127.0.0.1';

/**
 * Every worker of `config/models.yaml`: `replicas` local ones per model, and one per address.
 * Ids are stable across restarts: they are metric labels.
 */
export function workerRoster(options: RosterOptions): readonly PooledWorker[] {
  return options.models.flatMap(model => [
    ...Array.from({ length: model.replicas }, (_, index) => localWorker(model, `${model.id}-${index}`, options)),
    ...model.addresses.map(address =>
      pooledWorker(model, `${model.id}@${address}`, { ...options, home: () => new RemoteHome(address) }),
    ),
  ]);
}

function localWorker(model: ModelSpec, id: string, options: RosterOptions): PooledWorker {
  const { settings, launch } = options;
  const { restartMinMs, restartMaxMs, startTimeoutMs } = settings.workers;
  const home = (log: WorkerLog) =>
    new WorkerSupervisor({
      command: launch.command,
      args: launch.args,
      env: launch.environment(workerSpec(model, id, settings)),
      host: LOOPBACK,
      startTimeoutMs,
      stopGraceMs: launch.stopGraceMs,
      backoff: new RestartBackoff({ minMs: restartMinMs, maxMs: restartMaxMs }),
      log,
      nowMs: () => options.nowMs(),
      onRestart: () => options.onRestart({ id, model: model.id }),
    });
  return pooledWorker(model, id, { ...options, home });
}

function pooledWorker(
  model: ModelSpec,
  id: string,
  options: RosterOptions & { home(log: WorkerLog): WorkerHome },
): PooledWorker {
  const { workers, server } = options.settings;
  const log = new WorkerLog(new Logger('Worker'), id);
  return new PooledWorker({
    id,
    model: model.id,
    kind: model.kind,
    home: options.home(log),
    limits: {
      maxMessageBytes: maxMessageBytes(server.uploadLimitBytes),
      keepaliveTimeMs: workers.keepaliveTimeMs,
      keepaliveTimeoutMs: workers.keepaliveTimeoutMs,
    },
    health: {
      intervalMs: workers.healthIntervalMs,
      timeoutMs: workers.healthTimeoutMs,
      failures: workers.healthFailures,
    },
    log,
    onCapacity: () => options.onCapacity(model.id),
  });
}

const workerSpec = (model: ModelSpec, workerId: string, { server, workers, logging }: Settings): WorkerSpec => ({
  workerId,
  model,
  host: LOOPBACK,
  port: 0,
  maxMessageBytes: maxMessageBytes(server.uploadLimitBytes),
  uploadLimitBytes: server.uploadLimitBytes,
  prepParallel: workers.prepParallel,
  keepaliveTimeMs: workers.keepaliveTimeMs,
  keepaliveTimeoutMs: workers.keepaliveTimeoutMs,
  shutdownGraceMs: server.shutdownGraceMs,
  logLevel: logging.level,
});

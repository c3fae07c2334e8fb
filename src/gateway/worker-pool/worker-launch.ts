import { fileURLToPath } from 'node:url';
import { type Settings } from '../../platform/config/settings.js';
import { fetchRules, pulledWork, type WorkerSpec, workerEnvironment } from '../../platform/config/worker-spec.js';

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

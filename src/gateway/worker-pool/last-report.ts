import { type WorkerHealthReport } from '@switchyard/worker-protocol/health.codec.js';
import {
  isUpstreamAway,
  neededMessageBytes,
  reportProblem,
  whyNotReady,
} from '@switchyard/worker-protocol/report-check.js';
import { type ModelSpec } from '../../platform/config/model-spec.js';
import { type Settings } from '../../platform/config/settings.js';
import { type ProcessLog } from '../../platform/logging/process-log.js';

/** The last report of a worker's process, and what is wrong with it. */
export class LastReport {
  health: WorkerHealthReport | undefined;
  /** What is wrong with it, or why there is none. */
  problem: string | undefined;

  constructor(
    private readonly worker: {
      readonly model: ModelSpec;
      readonly settings: Settings;
      readonly log: ProcessLog;
    },
  ) {}

  /** Forgets the report of a process that ended. */
  clear(): void {
    this.health = undefined;
    this.problem = undefined;
  }

  /** @returns why it takes no work yet; sound: no field of it is wrong */
  take(health: WorkerHealthReport) {
    this.health = health;
    const { model, settings } = this.worker;
    const most = neededMessageBytes(model.kind, settings.server.uploadLimitBytes);
    const problem = reportProblem(health, model, most);
    const unready = problem ?? whyNotReady(health);
    this.explain(problem ?? (isUpstreamAway(health) ? (this.problem ?? unready) : undefined));
    return { unready, isSound: problem === undefined };
  }

  /** @param problem logged when it changes */
  explain(problem: string | undefined): void {
    if (problem !== undefined && problem !== this.problem) this.worker.log.say('warn', problem);
    this.problem = problem;
  }
}

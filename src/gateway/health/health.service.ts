import { Injectable, type OnModuleInit } from '@nestjs/common';
import { BlobStore } from '../../core/jobs/job.ports.js';
import { OpenDatabase } from '../../platform/database/open-database.js';
import { DependencyMonitor } from '../../platform/dependencies/dependency-monitor.js';
import { IntakeGate } from '../http/intake-gate.js';
import { EmbeddedProcessor } from '../jobs/processor/embedded-processor.js';
import { SchedulerService } from '../scheduler/scheduler.service.js';
import { AllWorkers } from '../shared-queue/all-workers.js';
import { type ModelView, type WorkerView } from '../worker-pool/worker-view.js';

const EVERY_MS = 5000;
/**
 * No blob has this key: asking for its size reaches the folder or the bucket,
 * and reads nothing.
 */
const NO_BLOB = 'probe/none';

/**
 * Has the database and the blob store probed: files, batches and stored requests need
 * them, everything else is served without.
 */
@Injectable()
export class StoreProbes implements OnModuleInit {
  constructor(
    private readonly monitor: DependencyMonitor,
    private readonly database: OpenDatabase,
    private readonly blobs: BlobStore,
  ) {}

  onModuleInit(): void {
    this.monitor.watch('database', {
      probe: () => this.database.ping(),
      everyMs: EVERY_MS,
    });
    this.monitor.watch('blobs', {
      probe: () => this.blobs.size(NO_BLOB),
      everyMs: EVERY_MS,
    });
  }
}

/**
 * Readiness as load balancers need it: is there anything here that would answer
 * a request now?
 */
@Injectable()
export class HealthService {
  constructor(
    private readonly workers: AllWorkers,
    private readonly scheduler: SchedulerService,
    private readonly gate: IntakeGate,
    private readonly processor: EmbeddedProcessor,
    private readonly dependencies: DependencyMonitor,
  ) {}

  /**
   * What this gateway serves, and what it depends on, as last probed. Operators see why a
   * dependency is down at `/admin/v1/dependencies`.
   */
  summary() {
    const views = this.workers.models();
    const expected = views.filter(
      ({ state, startsOnRequest }) => startsOnRequest || state === 'loaded',
    );
    return {
      status: this.#status(expected.map(modelHealth)),
      models: views.map(modelHealth),
      batch_processor: this.processor.view,
      dependencies: Object.fromEntries(
        this.dependencies.states().map(([name, { status }]) => [name, { status }]),
      ),
    };
  }

  /** At least one model can be served, and requests are accepted. */
  get ready(): boolean {
    const { status } = this.summary();
    return status === 'ok' || status === 'degraded';
  }

  /**
   * `ok`: every model that no operator unloaded is ready; `degraded`: some are, or the
   * batch processor or a dependency is down; `unavailable`: none; `draining`: shutting
   * down.
   */
  #status(models: readonly { readonly ready: boolean }[]) {
    if (this.gate.draining || !this.scheduler.accepting) return 'draining';
    if (!this.scheduler.running || !models.some(({ ready }) => ready)) return 'unavailable';
    const processes = this.processor.view.state !== 'down';
    const answered = this.dependencies.states().every(([, { status: known }]) => known !== 'down');
    return processes && answered && models.every(({ ready }) => ready) ? 'ok' : 'degraded';
  }
}

/** Ready: a worker is up, or the next request starts one. */
function modelHealth({ id, state, startsOnRequest, workers }: ModelView) {
  const counts: Partial<Record<WorkerView['state'], number>> = {};
  for (const worker of workers) counts[worker.state] = (counts[worker.state] ?? 0) + 1;
  const startsNow = startsOnRequest && (state === 'unloaded' || state === 'unloading');
  return { id, ready: state === 'loaded' || startsNow, state, workers: counts };
}

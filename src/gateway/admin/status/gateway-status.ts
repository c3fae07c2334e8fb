import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { fullErrorMessage } from '@switchyard/engine-api/error-message.js';
import { RequestPriority } from '../../../core/request/request-priority.js';
import { Settings } from '../../../platform/config/settings.js';
import { JobStore } from '../../../platform/database/job-store.js';
import { DependencyMonitor } from '../../../platform/dependencies/dependency-monitor.js';
import { freeBytes } from '../../../platform/storage/storage-problems.js';
import { IntakeGate } from '../../http/intake-gate.js';
import { EmbeddedProcessor } from '../../jobs/processor/embedded-processor.js';
import { RequestQueues } from '../../queue/request-queues.js';
import { type QueueDepth } from '../../registry/request-queue.port.js';
import { SchedulerService } from '../../scheduler/scheduler.service.js';
import { AllWorkers } from '../../shared-queue/all-workers.js';
import { isNew, isReady, type WorkerView } from '../../worker-pool/worker-view.js';
import { bottleneckOf, type GatewayLoad } from './bottleneck.js';
import { RequestHistoryService } from './request-history.service.js';

/** A disk or a database that hangs delays a status by this much, and is missing in it. */
const LIMIT_MS = 500;

/** The disk and the batches: what a status knows besides requests and workers. */
@Injectable()
export class StoreStatus {
  constructor(
    private readonly settings: Settings,
    private readonly jobs: JobStore,
    private readonly monitor: DependencyMonitor,
    private readonly processor: EmbeddedProcessor,
  ) {}

  freeBytes(): Promise<number | undefined> {
    return inTime(freeBytes(this.settings.data.dir));
  }

  async batches() {
    if (this.monitor.isDown('database')) return undefined;
    const backlog = await inTime(this.jobs.backlog());
    if (!backlog) return undefined;
    const { validating, in_progress, finalizing, cancelling } = backlog.byStatus;
    return { running: in_progress + finalizing + cancelling, waiting: validating };
  }

  dependencies(): GatewayLoad['dependencies'] {
    const probed = this.monitor.states().map(([name, { status: state, error }]) => {
      return { name, state, text: error ? fullErrorMessage(error) : '' };
    });
    const { state, problem = '' } = this.processor.view;
    if (state === 'off') return probed;
    const known = { ready: 'up', down: 'down', starting: 'unknown' } as const;
    return [...probed, { name: 'batch_processor', state: known[state], text: problem }];
  }
}

/** What this gateway does now, in one look. */
@Injectable()
export class GatewayStatus {
  constructor(
    private readonly scheduler: SchedulerService,
    private readonly queues: RequestQueues,
    private readonly workers: AllWorkers,
    private readonly history: RequestHistoryService,
    private readonly stores: StoreStatus,
    private readonly gate: IntakeGate,
  ) {}

  /** The status without the fields that identify this gateway. */
  async find() {
    const [depths, free, batches] = await Promise.all([
      this.queues.depths(),
      this.stores.freeBytes(),
      this.stores.batches(),
    ]);
    const draining = this.gate.draining || !this.scheduler.accepting;
    const models = this.#models(depths);
    const probed = this.stores.dependencies();
    const bottleneck = bottleneckOf({
      draining,
      dependencies: probed,
      freeBytes: free,
      models: models.map(({ load }) => load),
    });
    return {
      draining,
      bottleneck: bottleneck ?? null,
      models: models.map(({ shown }) => shown),
      dependencies: [...probed, diskStatus(free)],
      batches: batches ?? null,
    };
  }

  #models(depths: readonly QueueDepth[]) {
    const { REALTIME, BATCH } = RequestPriority;
    const waiting = this.scheduler.waiting();
    const depthOf = new Map(depths.map(depth => [depth.model, depth]));
    return this.workers.models().map(({ id, state, reason, workers: all }) => {
      const { realtime, batch, running, oldestWaitMs = 0 } = depthOf.get(id) ?? NO_DEPTH;
      const { aged, byTenant } = waiting.get(id) ?? NONE_WAITS;
      const [busiest] = [...byTenant].sort(([, a], [, b]) => b - a);
      const rates = this.history.rates(id);
      const workers = workerCounts(all);
      const slots = slotCounts(all);
      const load: GatewayLoad['models'][number] = {
        id,
        reason,
        expected: state === 'loaded' || state === 'loading' || state === 'failed',
        waiting: realtime + batch,
        busiestTenant: busiest && { tenant: busiest[0], waiting: busiest[1] },
        oldestWaitMs,
        workers,
        slots,
        awaited: this.queues.embedded.awaited(id, realtime > 0 ? REALTIME : BATCH)?.text,
        rates,
      };
      const { ready, total, drained } = workers;
      const shown = {
        id,
        state,
        waiting: { realtime, batch, aged },
        oldest_wait_ms: Math.round(oldestWaitMs),
        in_flight: running,
        workers: { ready, total, drained },
        slots,
        rates: shownRates(rates),
      };
      return { load, shown };
    });
  }
}

const shownRates = (rates: ReturnType<RequestHistoryService['rates']>) => ({
  arrived_per_s: hundredths(rates.arrived),
  completed_per_s: hundredths(rates.completed),
  failed_per_s: hundredths(rates.failed),
  refused_per_s: hundredths(rates.refused),
});

const NO_DEPTH: QueueDepth = { model: '', realtime: 0, batch: 0, running: 0 };
const NONE_WAITS = { aged: 0, byTenant: new Map<string, number>() };

const slotCounts = (workers: readonly WorkerView[]) => ({
  total: workers.reduce((sum, { slots }) => sum + slots.total, 0),
  free: workers.reduce((sum, { slots }) => sum + slots.free, 0),
});

const workerCounts = (workers: readonly WorkerView[]) => ({
  total: workers.length,
  ready: workers.filter(isReady).length,
  starting: workers.filter(worker => !worker.drained && isNew(worker)).length,
  drained: workers.filter(({ drained = false }) => drained).length,
});

const hundredths = (rate: number): number => Math.round(rate * 100) / 100;

function diskStatus(free: number | undefined): GatewayLoad['dependencies'][number] {
  if (free === undefined)
    return { name: 'disk', state: 'unknown', text: 'The data folder does not answer.' };
  return {
    name: 'disk',
    state: free > 0 ? 'up' : 'down',
    text: `${(free / 1024 ** 3).toFixed(1)} GiB free.`,
  };
}

/** @returns what `work` resolves with; undefined: it failed, or took longer than `LIMIT_MS` */
const inTime = <T>(work: Promise<T>): Promise<T | undefined> =>
  Promise.race([work.catch(() => undefined), sleep(LIMIT_MS, undefined, { ref: false })]);

import { Inject, Injectable } from '@nestjs/common';
import { catchError, firstValueFrom, from, map, of, race, timer } from 'rxjs';
import { type JobStore } from '../../../core/jobs/job.ports.js';
import { type Bottleneck, bottleneckOf, type ModelLoad } from '../../../core/status/bottleneck.js';
import { fullErrorMessage } from '@switchyard/engine-api/error-message.js';
import { SETTINGS, type Settings } from '../../../platform/config/settings.js';
import { JOB_STORE } from '../../../platform/database/database.tokens.js';
import { DependencyMonitor } from '../../../platform/dependencies/dependency-monitor.js';
import { freeBytes } from '../../../platform/storage/storage-problems.js';
import { IntakeGate } from '../../http/intake-gate.js';
import { EmbeddedProcessor } from '../../jobs/processor/embedded-processor.js';
import { type ModelQueueDepth, type ModelWaiting } from '../../scheduler/scheduler.service.js';
import { SchedulerService } from '../../scheduler/scheduler.service.js';
import { AllWorkers } from '../../shared-queue/all-workers.js';
import { isNew, isReady, type ModelView, type WorkerView } from '../../worker-pool/worker-view.js';
import { RequestHistoryService } from './request-history.service.js';

/** A disk or a database that hangs delays a status by this much, and is missing in it. */
const LIMIT_MS = 500;

/** One model in a status. */
export interface ModelStatus extends ModelLoad {
  readonly state: ModelView['state'];
  readonly realtime: number;
  readonly batch: number;
  readonly aged: number;
  readonly inFlight: number;
}

export interface DependencyStatus {
  readonly name: string;
  readonly state: 'up' | 'down' | 'unknown';
  /** Why it is down, or a figure of it; empty: nothing to say. */
  readonly text: string;
}

export interface GatewaySnapshot {
  readonly draining: boolean;
  readonly bottleneck: Bottleneck | undefined;
  readonly models: readonly ModelStatus[];
  readonly dependencies: readonly DependencyStatus[];
  /** Undefined: the database does not answer. */
  readonly batches: { readonly running: number; readonly waiting: number } | undefined;
}

/** The disk and the batches: what a status knows besides requests and workers. */
@Injectable()
export class StoreStatus {
  constructor(
    @Inject(SETTINGS) private readonly settings: Settings,
    @Inject(JOB_STORE) private readonly jobs: JobStore,
    private readonly monitor: DependencyMonitor,
    private readonly processor: EmbeddedProcessor,
  ) {}

  freeBytes(): Promise<number | undefined> {
    return inTime(freeBytes(this.settings.data.dir));
  }

  async batches(): Promise<GatewaySnapshot['batches']> {
    if (this.monitor.isDown('database')) return undefined;
    const backlog = await inTime(this.jobs.backlog(Date.now()));
    if (!backlog) return undefined;
    const { validating, in_progress, finalizing, cancelling } = backlog.byStatus;
    return { running: in_progress + finalizing + cancelling, waiting: validating };
  }

  dependencies(): DependencyStatus[] {
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
    private readonly workers: AllWorkers,
    private readonly history: RequestHistoryService,
    private readonly stores: StoreStatus,
    private readonly gate: IntakeGate,
  ) {}

  async snapshot(): Promise<GatewaySnapshot> {
    const [depths, free, batches] = await Promise.all([
      this.scheduler.depths(),
      this.stores.freeBytes(),
      this.stores.batches(),
    ]);
    const draining = this.gate.draining || !this.scheduler.accepting;
    const models = this.#models(depths);
    const probed = this.stores.dependencies();
    const load = probed.map(({ name, state, text }) => ({ name, down: state === 'down', text }));
    const bottleneck = bottleneckOf({ draining, dependencies: load, freeBytes: free, models });
    return { draining, bottleneck, models, dependencies: [...probed, diskStatus(free)], batches };
  }

  #models(depths: readonly ModelQueueDepth[]): ModelStatus[] {
    const waiting = this.scheduler.waiting();
    const depthOf = new Map(depths.map(depth => [depth.model, depth]));
    return this.workers.models().map(view => ({
      ...loadOf(view),
      ...queueOf(depthOf.get(view.id), waiting.get(view.id)),
      rates: this.history.rates(view.id),
    }));
  }
}

function loadOf(view: ModelView): Pick<ModelStatus, 'id' | 'state' | 'reason' | 'expected' | 'workers' | 'slots'> {
  const { id, state, reason, workers } = view;
  const count = (meets: (worker: WorkerView) => boolean): number => workers.filter(meets).length;
  const slots = (part: 'total' | 'free'): number => workers.reduce((sum, worker) => sum + worker.slots[part], 0);
  return {
    ...{ id, state },
    ...(reason !== undefined && { reason }),
    expected: state === 'loaded' || state === 'loading' || state === 'failed',
    workers: {
      total: workers.length,
      ready: count(isReady),
      starting: count(worker => !worker.drained && isNew(worker)),
      drained: count(({ drained = false }) => drained),
    },
    slots: { total: slots('total'), free: slots('free') },
  };
}

function queueOf(
  depth?: ModelQueueDepth,
  waiting?: ModelWaiting,
): Omit<ModelStatus, keyof ReturnType<typeof loadOf> | 'rates'> {
  const { realtime = 0, batch = 0, running = 0, oldestWaitMs = 0 } = depth ?? {};
  const [busiest] = [...(waiting?.byTenant ?? [])].sort(([, a], [, b]) => b - a);
  return {
    ...{ realtime, batch, oldestWaitMs, waiting: realtime + batch, inFlight: running, aged: waiting?.aged ?? 0 },
    ...(busiest && { busiestTenant: { tenant: busiest[0], waiting: busiest[1] } }),
  };
}

function diskStatus(free: number | undefined): DependencyStatus {
  if (free === undefined) return { name: 'disk', state: 'unknown', text: 'The data folder does not answer.' };
  return { name: 'disk', state: free > 0 ? 'up' : 'down', text: `${(free / 1024 ** 3).toFixed(1)} GiB free.` };
}

/** Undefined: it failed, or did not answer in time. */
const inTime = <T>(work: Promise<T>): Promise<T | undefined> =>
  firstValueFrom(race(from(work).pipe(catchError(() => of(undefined))), timer(LIMIT_MS).pipe(map(() => undefined))));

import { Injectable } from '@nestjs/common';
import { SchedulerService } from '../scheduler/scheduler.service.js';
import { WorkerPoolService } from '../worker-pool/worker-pool.service.js';
import { type WorkerState } from '../worker-pool/worker-view.js';
import { IntakeGate } from './intake-gate.js';
import { ModelCatalog } from './model-catalog.js';

export interface ModelHealth {
  readonly id: string;
  readonly ready: boolean;
  /** Workers by state. */
  readonly workers: Readonly<Partial<Record<WorkerState, number>>>;
}

export interface HealthSummary {
  /** `ok`: every model has a ready worker; `degraded`: some have; `unavailable`: none; `draining`: shutting down. */
  readonly status: 'ok' | 'degraded' | 'unavailable' | 'draining';
  readonly models: readonly ModelHealth[];
}

/** Readiness as load balancers need it: is there anything here that would answer a request now? */
@Injectable()
export class HealthService {
  constructor(
    private readonly catalog: ModelCatalog,
    private readonly pool: WorkerPoolService,
    private readonly scheduler: SchedulerService,
    private readonly gate: IntakeGate,
  ) {}

  summary(): HealthSummary {
    const models = this.catalog.all().map(({ id }) => this.modelHealth(id));
    return { status: this.status(models), models };
  }

  /** At least one model can be served, and the door is open. */
  get ready(): boolean {
    const { status } = this.summary();
    return status === 'ok' || status === 'degraded';
  }

  private status(models: readonly ModelHealth[]): HealthSummary['status'] {
    if (this.gate.draining || !this.scheduler.accepting) return 'draining';
    if (!this.scheduler.running || !models.some(({ ready }) => ready)) return 'unavailable';
    return models.every(({ ready }) => ready) ? 'ok' : 'degraded';
  }

  private modelHealth(id: string): ModelHealth {
    const workers: Partial<Record<WorkerState, number>> = {};
    for (const { model, state } of this.pool.workers()) {
      if (model === id) workers[state] = (workers[state] ?? 0) + 1;
    }
    return { id, ready: this.pool.hasReady(id), workers };
  }
}

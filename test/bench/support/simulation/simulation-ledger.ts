import { type Quantiles, type WaitForecast } from '../../../../src/core/forecast/forecast-view.js';
import { type PriorityLabel } from '../../../../src/core/request/request-priority.js';
import { type Settlement } from '../../../../src/core/request/settlement.js';
import { type TraceRequest } from './trace.js';

export interface ForecastWait extends Quantiles {
  readonly priority: PriorityLabel;
  /** When it came. */
  readonly atMs: number;
  readonly waitedMs: number;
}

type Counts = Record<Settlement['status'], number>;

/**
 * What happened in a simulation, by priority and by tenant. Waits are milliseconds from
 * arrival until a slot was leased.
 */
export class SimulationLedger {
  readonly waitsMs: Record<PriorityLabel, number[]> = { realtime: [], batch: [] };
  /** Of completed requests, from arrival until answered. */
  readonly answersMs: Record<PriorityLabel, number[]> = { realtime: [], batch: [] };
  readonly settledBy: Record<PriorityLabel, Counts> = {
    realtime: noCounts(),
    batch: noCounts(),
  };
  /** Completed requests of each tenant. */
  readonly tenants = new Map<string, number>();
  /** Waits of each tenant, in the order in which its requests were sent. */
  readonly tenantWaitsMs = new Map<string, number[]>();
  /** Waits beside what was forecast when they began. */
  readonly forecasts: ForecastWait[] = [];
  readonly #forecasts = new Map<TraceRequest, WaitForecast>();
  accepted = 0;
  refused = 0;
  /** Answers that came within their deadline. */
  met = 0;
  /** Device time of the others. */
  lateMs = 0;
  settledCount = 0;
  promotions = 0;
  lastAtMs = 0;

  came(request: TraceRequest, accepted: boolean, forecast?: WaitForecast): void {
    if (accepted) this.accepted += 1;
    else this.refused += 1;
    if (accepted && forecast) this.#forecasts.set(request, forecast);
  }

  leased(request: TraceRequest, waitedMs: number): void {
    const { priority, tenant } = request;
    const forecast = this.#forecasts.get(request);
    this.#forecasts.delete(request);
    if (forecast)
      this.forecasts.push({
        priority,
        atMs: request.atMs,
        waitedMs,
        ...forecast.startInMs,
      });
    this.waitsMs[priority].push(waitedMs);
    const waits = this.tenantWaitsMs.get(tenant);
    if (waits) waits.push(waitedMs);
    else this.tenantWaitsMs.set(tenant, [waitedMs]);
  }

  settled(request: TraceRequest, status: Settlement['status'], nowMs: number): void {
    const { priority, tenant, atMs, costMs = 0, deadlineMs = Infinity } = request;
    this.settledCount += 1;
    this.settledBy[priority][status] += 1;
    this.lastAtMs = nowMs;
    if (status !== 'completed') return;
    this.answersMs[priority].push(nowMs - atMs);
    if (nowMs - atMs <= deadlineMs) this.met += 1;
    else this.lateMs += costMs;
    this.tenants.set(tenant, (this.tenants.get(tenant) ?? 0) + 1);
  }
}

const noCounts = (): Counts => ({ completed: 0, failed: 0, cancelled: 0 });

import { pauseMs } from './fair-swaps.js';
import { type ModelAtDevice, type SharedDevice, type SwapPolicy } from './swap-policy.js';

/** Of a load that takes longer than usual: the part of its usual time that it takes at least. */
const OVERDUE = 0.1;

/** When a model that shares a device probably takes requests, and what is before that. */
export interface ExpectedLoad {
  readonly device: string;
  /** Milliseconds from now. */
  readonly inMs: number;
  /** Models that leave first, and the requests and sessions that they still have. */
  readonly leaving: readonly { readonly model: string; readonly running: number }[];
}

/**
 * For a request of `model` that comes now. Undefined: it takes requests already, or pinned
 * models leave no room.
 * @param drainMs milliseconds until what a model has is answered
 */
export function expectedLoad(
  {
    models,
    devices,
    policy,
  }: {
    readonly models: readonly ModelAtDevice[];
    readonly devices: readonly SharedDevice[];
    readonly policy: SwapPolicy;
  },
  {
    model: id,
    isRealtime,
    nowMs,
    drainMs,
  }: {
    readonly model: string;
    readonly isRealtime: boolean;
    readonly nowMs: number;
    readonly drainMs: (model: string) => number;
  },
): ExpectedLoad | undefined {
  const model = models.find(one => one.id === id);
  if (!model || model.stage === 'resident') return undefined;
  if (model.stage === 'loading') {
    const leftMs = model.loadMs - (nowMs - model.sinceMs);
    return { device: model.device!, inMs: Math.max(leftMs, OVERDUE * model.loadMs), leaving: [] };
  }
  const asked = models.map(one => (one === model ? withRequest(one, isRealtime, nowMs) : one));
  const swaps = policy.plan(asked, devices, nowMs);
  const swap = swaps.find(one => one.model === id);
  const timeOf = (names: readonly string[], device: string) => {
    const before = models.filter(
      one => names.includes(one.id) || (one.stage === 'leaving' && one.device === device),
    );
    return { before, ms: Math.max(0, ...before.map(one => drainMs(one.id))) };
  };
  if (swap) {
    const { before, ms } = timeOf(swap.leaving, swap.device);
    const waitMs = swap.atMs === Infinity ? 0 : swap.atMs - nowMs;
    const leaving = before.map(one => ({ model: one.id, running: one.demand.running }));
    return { device: swap.device, inMs: Math.max(waitMs, ms) + model.loadMs, leaving };
  }
  // Behind the one that is next on its device: when that has become idle.
  const next = swaps.find(({ device }) => model.devices.includes(device));
  const other = models.find(one => one.id === next?.model);
  if (!next || !other) return undefined;
  const { ms } = timeOf(next.leaving, next.device);
  const waitMs = next.atMs === Infinity ? 0 : next.atMs - nowMs;
  const inMs = Math.max(waitMs, ms) + other.loadMs + pauseMs(other) + model.loadMs;
  return { device: next.device, inMs, leaving: [{ model: other.id, running: 0 }] };
}

const withRequest = (model: ModelAtDevice, isRealtime: boolean, nowMs: number): ModelAtDevice => {
  const { demand } = model;
  return {
    ...model,
    stage: 'absent',
    device: undefined,
    demand: {
      ...demand,
      waiting: demand.waiting + 1,
      oldestMs: Math.min(demand.oldestMs, nowMs),
      oldestRealtimeMs: isRealtime
        ? Math.min(demand.oldestRealtimeMs, nowMs)
        : demand.oldestRealtimeMs,
      // Of a BATCH request alone: it is due when it has aged, after all that are due.
      dueMs: isRealtime ? Math.min(demand.dueMs, nowMs) : demand.dueMs,
    },
  };
};

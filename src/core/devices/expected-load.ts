import { pauseMs } from './fair-swaps.js';
import {
  type ModelAtDevice,
  type SharedDevice,
  type Swap,
  type SwapPolicy,
} from './swap-policy.port.js';

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

/** A request that comes now. */
interface Arrival {
  readonly model: string;
  readonly isRealtime: boolean;
  readonly nowMs: number;
  /** Milliseconds until what a model has is answered. */
  readonly drainMs: (model: string) => number;
}

/**
 * For the model of a request. Undefined: it takes requests already, or pinned models leave
 * no room.
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
  { model: id, isRealtime, nowMs, drainMs }: Arrival,
): ExpectedLoad | undefined {
  const model = models.find(one => one.id === id);
  if (!model || model.stage === 'resident') return undefined;
  if (model.stage === 'loading') {
    const leftMs = model.loadMs - (nowMs - model.sinceMs);
    return { device: model.device!, inMs: Math.max(leftMs, OVERDUE * model.loadMs), leaving: [] };
  }
  const asked = models.map(one => (one === model ? withRequest(one, isRealtime, nowMs) : one));
  const swaps = policy.plan(asked, devices, nowMs);
  // Of its own load, or of the one that is next on its device.
  const mine = swaps.find(one => one.model === id);
  const swap = mine ?? swaps.find(({ device }) => model.devices.includes(device));
  if (!swap) return undefined;
  const before = leaversOf(swap, models);
  const waitMs = swap.atMs === Infinity ? 0 : swap.atMs - nowMs;
  const freeMs = Math.max(waitMs, ...before.map(one => drainMs(one.id)));
  const { device } = swap;
  if (mine) {
    const leaving = before.map(one => ({ model: one.id, running: one.demand.running }));
    return { device, inMs: freeMs + model.loadMs, leaving };
  }
  // Behind the other one: when that has become idle.
  const other = models.find(one => one.id === swap.model)!;
  const inMs = freeMs + other.loadMs + pauseMs(other) + model.loadMs;
  return { device, inMs, leaving: [{ model: other.id, running: 0 }] };
}

/** Those that leave before it, also those that leave already. */
export const leaversOf = (
  { leaving, device }: Swap,
  models: readonly ModelAtDevice[],
): readonly ModelAtDevice[] =>
  models.filter(
    one => leaving.includes(one.id) || (one.stage === 'leaving' && one.device === device),
  );

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

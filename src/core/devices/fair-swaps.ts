import {
  memoryOf,
  isIdle,
  type ModelAtDevice,
  type SharedDevice,
  stays,
  type Swap,
  type SwapPolicy,
} from './swap-policy.port.js';

/** Load times that a model in use stays; a swap costs one, so five sixths of the time is work. */
const RESIDENCE = 5;
/**
 * Load times that a model in use stays while REALTIME of another model waits, which is
 * charged for the swap.
 */
const RESIDENCE_REALTIME = 1;
/** Load times without any work after which a model counts as idle: its next caller may be near. */
const PAUSE = 0.1;

/** Milliseconds that a model stays while it is in use. */
const residenceMs = ({ minResidenceMs, loadMs }: ModelAtDevice): number =>
  minResidenceMs ?? RESIDENCE * loadMs;

/** Milliseconds without work after which it counts as idle. */
export const pauseMs = ({ loadMs }: ModelAtDevice): number => PAUSE * loadMs;

/**
 * The rules of README "Which model is next": due requests choose the model; who waited when
 * a model was loaded is served before it leaves; idle models leave first.
 */
export class FairSwaps implements SwapPolicy {
  plan(
    models: readonly ModelAtDevice[],
    devices: readonly SharedDevice[],
    nowMs: number,
  ): readonly Swap[] {
    const swaps: Swap[] = [];
    for (const wanted of wantedOf(models)) {
      const possible = wanted.devices.flatMap(id => {
        const device = devices.find(one => one.id === id);
        return (device && swapOn(device, { wanted, models, swaps, nowMs })) ?? [];
      });
      // The preferred device, unless another one is free sooner.
      const [best] = possible.sort(
        (a, b) => sooner(a.atMs, b.atMs) || a.leaving.length - b.leaving.length,
      );
      if (best) swaps.push(best);
    }
    return swaps;
  }
}

/** What is absent and wanted: pinned, then by what is due first, then what is to be prewarmed. */
function wantedOf(models: readonly ModelAtDevice[]): readonly ModelAtDevice[] {
  const level = ({ pin, demand }: ModelAtDevice) => (pin ? 0 : demand.waiting > 0 ? 1 : 2);
  return models
    .filter(
      ({ stage, pin, prewarm, demand }) =>
        stage === 'absent' && (pin || prewarm || demand.waiting > 0),
    )
    .sort((a, b) => level(a) - level(b) || sooner(a.demand.dueMs, b.demand.dueMs));
}

/** Of two instants, also of two that are Infinity. */
const sooner = (a: number, b: number): number => (a === b ? 0 : a - b);

interface Question {
  readonly wanted: ModelAtDevice;
  readonly models: readonly ModelAtDevice[];
  /** Planned before it: they are more urgent. */
  readonly swaps: readonly Swap[];
  readonly nowMs: number;
}

/** Undefined: what is pinned or more urgent leaves no room. */
function swapOn(
  device: SharedDevice,
  { wanted, models, swaps, nowMs }: Question,
): Swap | undefined {
  const before = swaps.filter(swap => swap.device === device.id);
  const leavers = new Set(before.flatMap(({ leaving }) => leaving));
  const coming = models.filter(({ id }) => before.some(({ model }) => model === id));
  const staying = models.filter(
    model => model.device === device.id && stays(model) && !leavers.has(model.id),
  );
  const missing = wanted.memory - (device.memory - memoryOf(staying) - memoryOf(coming));
  const reason = reasonOf(wanted, nowMs);
  const leaving = missing <= 0 ? [] : leaversFor(missing, staying, reason, nowMs);
  if (!leaving) return undefined;
  const atMs = Math.max(nowMs, ...leaving.map(model => leavesAtMs(model, reason, nowMs)));
  return {
    model: wanted.id,
    device: device.id,
    leaving: leaving.map(({ id }) => id),
    atMs,
    reason,
  };
}

function reasonOf({ pin, demand }: ModelAtDevice, nowMs: number): Swap['reason'] {
  if (pin) return 'pin';
  if (demand.waiting === 0) return 'prewarm';
  if (demand.oldestRealtimeMs < Infinity) return 'realtime';
  return demand.dueMs <= nowMs ? 'aged' : 'waiting';
}

/** The first that may leave, by least recent use, until so much is free; none more than needed. */
function leaversFor(
  bytes: number,
  staying: readonly ModelAtDevice[],
  reason: Swap['reason'],
  nowMs: number,
): readonly ModelAtDevice[] | undefined {
  const most = reason === 'prewarm' ? [] : staying.filter(({ pin }) => !pin);
  const inOrder = most
    .map(model => ({ model, atMs: leavesAtMs(model, reason, nowMs) }))
    .sort((a, b) => sooner(a.atMs, b.atMs) || a.model.demand.usedMs - b.model.demand.usedMs);
  const leaving: ModelAtDevice[] = [];
  for (const { model } of inOrder) if (memoryOf(leaving) < bytes) leaving.push(model);
  if (memoryOf(leaving) < bytes) return undefined;
  return leaving.reduce<readonly ModelAtDevice[]>((kept, model) => {
    const without = kept.filter(one => one !== model);
    return memoryOf(without) >= bytes ? without : kept;
  }, leaving);
}

/** When it may be told to leave; `nowMs` at the earliest. */
function leavesAtMs(model: ModelAtDevice, reason: Swap['reason'], nowMs: number): number {
  const { stage, sinceMs, demand, loadMs } = model;
  const isPaid = reason === 'realtime' || reason === 'pin';
  if (isIdle(model)) {
    const idleAtMs = isPaid || stage === 'loading' ? nowMs : demand.usedMs + pauseMs(model);
    return Math.max(nowMs, idleAtMs);
  }
  if (stage === 'loading') return Infinity;
  // Who waited when it was loaded; REALTIME waits for REALTIME only.
  const oldestMs = isPaid ? demand.oldestRealtimeMs : demand.oldestMs;
  if (demand.serves && oldestMs <= sinceMs) return Infinity;
  const stayMs = isPaid
    ? Math.min(RESIDENCE_REALTIME * loadMs, residenceMs(model))
    : residenceMs(model);
  return Math.max(nowMs, sinceMs + stayMs);
}

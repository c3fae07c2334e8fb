import { describe, expect, it } from '@jest/globals';
import { FairSwaps } from './fair-swaps.js';
import { type ModelAtDevice, type Swap } from './swap-policy.port.js';

/** Of every load, in the scenes. */
const LOAD_MS = 10_000;
const NOW_MS = 100_000;
const GPU = { id: 'gpu0', memory: 10 };

interface Scene {
  readonly memory?: number;
  readonly pin?: boolean;
  readonly prewarm?: boolean;
  readonly devices?: readonly string[];
  readonly minResidenceMs?: number;
  /** Where it is, and since when it takes requests; absent: nowhere. */
  readonly on?: string;
  readonly loadedAtMs?: number;
  readonly isLoading?: boolean;
  /** Arrivals of what waits. */
  readonly batch?: readonly number[];
  readonly realtime?: readonly number[];
  readonly latestStartMs?: number;
  readonly running?: number;
  readonly usedMs?: number;
}

const first = (arrivals: readonly number[] = []): number => Math.min(...arrivals);

function model(id: string, scene: Scene): ModelAtDevice {
  const {
    memory = 6,
    on,
    loadedAtMs = 0,
    isLoading,
    batch = [],
    realtime = [],
    running = 0,
  } = scene;
  const {
    devices = ['gpu0'],
    usedMs = 0,
    latestStartMs = Infinity,
    pin,
    prewarm,
    minResidenceMs,
  } = scene;
  const isAbsent = on === undefined;
  return {
    ...{ id, devices, memory, pin, prewarm, minResidenceMs, device: on, loadMs: LOAD_MS },
    stage: isAbsent ? 'absent' : isLoading ? 'loading' : 'resident',
    sinceMs: loadedAtMs,
    demand: {
      waiting: batch.length + realtime.length,
      oldestMs: Math.min(first(batch), first(realtime)),
      oldestRealtimeMs: first(realtime),
      dueMs: Math.min(first(realtime), first(batch) + 30_000, latestStartMs),
      ...{ running, usedMs, serves: !isAbsent },
    },
  };
}

function next(scenes: Readonly<Record<string, Scene>>, devices = [GPU]): readonly string[] {
  const models = Object.entries(scenes).map(([id, scene]) => model(id, scene));
  return new FairSwaps().plan(models, devices, NOW_MS).map(inWords);
}

function inWords({ model: id, device, leaving, atMs, reason }: Swap): string {
  const when =
    atMs === Infinity ? 'when it is served' : atMs === NOW_MS ? 'now' : `at ${atMs / 1000} s`;
  return [id, device, leaving.length > 0 ? `for ${leaving.join(' ')}` : 'free', when, reason].join(
    ', ',
  );
}

/** In use since long ago: something runs, and what waits came after it was loaded. */
const BUSY: Scene = { on: 'gpu0', loadedAtMs: 10_000, running: 4, batch: [99_000] };

describe('the ten scenes of the README', () => {
  it('1. there is room: it is loaded at once, and nobody leaves', () => {
    expect(next({ a: { ...BUSY, memory: 4 }, b: { batch: [99_900] } })).toEqual([
      'b, gpu0, free, now, waiting',
    ]);
  });

  it('2. an idle model leaves a tenth of its load time after its last request', () => {
    expect(next({ a: { on: 'gpu0', usedMs: 99_500 }, b: { batch: [99_900] } })).toEqual([
      'b, gpu0, for a, at 100.5 s, waiting',
    ]);
  });

  it('3. of two idle models, the one used least recently leaves, and not both', () => {
    const idle = { on: 'gpu0', memory: 5 };
    expect(
      next({
        a: { ...idle, usedMs: 80_000 },
        c: { ...idle, usedMs: 40_000 },
        b: { memory: 5, batch: [0] },
      }),
    ).toEqual(['b, gpu0, for c, now, aged']);
  });

  it('4. a model in use stays five load times', () => {
    expect(next({ a: { ...BUSY, loadedAtMs: 70_000 }, b: { batch: [80_000] } })).toEqual([
      'b, gpu0, for a, at 120 s, waiting',
    ]);
  });

  it('5. who waited when it was loaded is served first, however long that takes', () => {
    expect(next({ a: { ...BUSY, batch: [9000] }, b: { batch: [0] } })).toEqual([
      'b, gpu0, for a, when it is served, aged',
    ]);
  });

  it('6. REALTIME pays for the swap: after one load time, whatever BATCH waits', () => {
    const a = { ...BUSY, batch: [9000] };
    expect(next({ a, b: { realtime: [99_999] } })).toEqual(['b, gpu0, for a, now, realtime']);
    expect(next({ a: { ...a, loadedAtMs: 95_000 }, b: { realtime: [99_999] } })).toEqual([
      'b, gpu0, for a, at 105 s, realtime',
    ]);
  });

  it('7. REALTIME that waited when the model was loaded is served before it leaves for REALTIME', () => {
    expect(next({ a: { ...BUSY, realtime: [9000] }, b: { realtime: [8000] } })).toEqual([
      'b, gpu0, for a, when it is served, realtime',
    ]);
  });

  it('8. what is due first is next: BATCH that aged before the REALTIME request came, or whose latest start is near', () => {
    const idle = { on: 'gpu0' };
    expect(next({ a: idle, b: { batch: [60_000] }, c: { realtime: [95_000] } })).toEqual([
      'b, gpu0, for a, now, aged',
    ]);
    expect(
      next({ a: idle, b: { batch: [99_000] }, c: { batch: [99_500], latestStartMs: 110_000 } })[0],
    ).toBe('c, gpu0, for a, now, waiting');
  });

  it('9. a pinned model is loaded first and never leaves; a prewarmed one takes free room only', () => {
    expect(
      next({ a: { ...BUSY, pin: true }, b: { batch: [0] }, c: { memory: 4, prewarm: true } }),
    ).toEqual(['c, gpu0, free, now, prewarm']);
    expect(next({ a: { on: 'gpu0' }, p: { pin: true }, c: { prewarm: true } })).toEqual([
      'p, gpu0, for a, now, pin',
    ]);
  });

  it('10. of several devices the preferred one, unless another has room sooner', () => {
    const devices = [GPU, { id: 'gpu1', memory: 10 }];
    const b = { devices: ['gpu0', 'gpu1'], batch: [99_000] };
    expect(next({ b }, devices)).toEqual(['b, gpu0, free, now, waiting']);
    expect(next({ a: { ...BUSY, loadedAtMs: 90_000 }, b }, devices)).toEqual([
      'b, gpu1, free, now, waiting',
    ]);
  });
});

describe('FairSwaps', () => {
  it('keeps the place of who is next: a later model is loaded only beside it', () => {
    const a = { ...BUSY, memory: 4, loadedAtMs: 90_000 };
    const swaps = next({ a, b: { memory: 8, batch: [0] }, c: { memory: 5, batch: [1] } });
    expect(swaps).toEqual(['b, gpu0, for a, at 140 s, aged']);
  });

  it('takes the residence that a model was given', () => {
    expect(
      next({ a: { ...BUSY, loadedAtMs: 95_000, minResidenceMs: 7000 }, b: { batch: [0] } }),
    ).toEqual(['b, gpu0, for a, at 102 s, aged']);
  });

  it('lets a model that nobody waits for any more leave while it loads, and no other', () => {
    const loading = { on: 'gpu0', isLoading: true, loadedAtMs: 99_000 };
    expect(next({ a: loading, b: { batch: [0] } })).toEqual(['b, gpu0, for a, now, aged']);
    expect(next({ a: { ...loading, batch: [98_000] }, b: { realtime: [0] } })).toEqual([
      'b, gpu0, for a, when it is served, realtime',
    ]);
  });

  it('does not wait for requests that a model without any worker cannot serve', () => {
    const a = model('a', { ...BUSY, batch: [9000] });
    const stuck = { ...a, demand: { ...a.demand, serves: false } };
    expect(
      new FairSwaps().plan([stuck, model('b', { batch: [0] })], [GPU], NOW_MS).map(inWords),
    ).toEqual(['b, gpu0, for a, now, aged']);
  });
});

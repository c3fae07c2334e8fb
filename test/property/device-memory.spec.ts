import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { FairSwaps } from '../../src/core/devices/fair-swaps.js';
import { Placements } from '../../src/core/devices/placements.js';
import {
  type Demand,
  type PlaceableModel,
  type SwapPolicy,
} from '../../src/core/devices/swap-policy.port.js';
import { LeastRecentlyUsed } from '../support/least-recently-used.js';

const RUNS = Number(process.env.DEVICE_RUNS ?? 100);
const DEVICES = [
  { id: 'gpu0', memory: 10 },
  { id: 'gpu1', memory: 6 },
];

/** What a model's processes really do, and who asks for it. */
interface Life {
  /** Requests that wait, by their arrival; negative: REALTIME. */
  waiting: { readonly atMs: number; readonly isRealtime: boolean }[];
  running: number;
  usedMs: number;
  /** Where its processes hold memory; undefined: they have ended. */
  device: string | undefined;
  isLoading: boolean;
  isLeaving: boolean;
}

/** Models on devices whose processes are independent of what `Placements` believes. */
class World {
  nowMs = 0;
  readonly lives: ReadonlyMap<string, Life>;
  readonly placements: Placements;

  constructor(
    readonly models: readonly PlaceableModel[],
    policy: SwapPolicy,
  ) {
    this.lives = new Map(
      models.map(({ id }) => [
        id,
        {
          ...{ waiting: [], running: 0, usedMs: 0, device: undefined },
          isLoading: false,
          isLeaving: false,
        },
      ]),
    );
    this.placements = new Placements({
      ...{ devices: () => DEVICES, policy, models: () => models, loadMs: () => 100 },
      demandOf: id => this.#demandOf(id),
    });
  }

  life(index: number): { readonly id: string; readonly life: Life } {
    const { id } = this.models[index % this.models.length]!;
    return { id, life: this.lives.get(id)! };
  }

  /** Does the steps, sends what may be sent, and checks rule 1 after each step. */
  settle(): void {
    for (const life of this.lives.values())
      if (life.waiting.length + life.running > 0) life.usedMs = this.nowMs;
    for (const step of this.placements.decide(this.nowMs)) {
      const life = this.lives.get(step.model)!;
      if (step.type === 'load') {
        expect(life.device).toBeUndefined();
        Object.assign(life, { device: step.device, isLoading: true });
      } else {
        life.isLeaving = true;
        const isPinned = this.models.some(({ id, pin }) => id === step.model && pin);
        expect(isPinned && step.for !== undefined).toBe(false);
      }
      this.check();
    }
    for (const life of this.lives.values())
      if (life.device !== undefined && !life.isLoading && !life.isLeaving)
        life.running += life.waiting.splice(0, 4 - Math.min(4, life.running)).length;
  }

  check(): void {
    for (const { id, memory } of DEVICES) {
      const held = this.models.filter(model => this.lives.get(model.id)!.device === id);
      expect(held.reduce((sum, model) => sum + model.memory, 0)).toBeLessThanOrEqual(memory);
    }
  }

  loaded(id: string): void {
    const life = this.lives.get(id)!;
    if (!life.isLoading || life.isLeaving) return;
    life.isLoading = false;
    this.placements.loaded(id, this.nowMs);
  }

  /** Nothing is cut off: its processes end when nothing runs any more. */
  ended(id: string): void {
    const life = this.lives.get(id)!;
    if (!life.isLeaving || life.running > 0) return;
    Object.assign(life, { device: undefined, isLoading: false, isLeaving: false });
    this.placements.left(id);
  }

  failed(id: string): void {
    const life = this.lives.get(id)!;
    if (!life.isLoading || life.isLeaving) return;
    if (this.placements.dismiss(id, this.nowMs + 50, this.nowMs)) life.isLeaving = true;
  }

  #demandOf(id: string): Demand {
    const { waiting, running, usedMs } = this.lives.get(id)!;
    const oldest = (all: typeof waiting) => Math.min(...all.map(({ atMs }) => atMs));
    const oldestRealtimeMs = oldest(waiting.filter(({ isRealtime }) => isRealtime));
    const dueMs = Math.min(oldestRealtimeMs, oldest(waiting) + 300);
    return {
      ...{ waiting: waiting.length, running, usedMs, serves: true, dueMs, oldestRealtimeMs },
      oldestMs: oldest(waiting),
    };
  }
}

const COMMANDS = [
  'ask',
  'askNow',
  'hangUp',
  'answer',
  'loaded',
  'ended',
  'failed',
  'wait',
] as const;
const command = fc.record({
  what: fc.constantFrom(...COMMANDS),
  model: fc.nat(4),
  ms: fc.integer({ min: 1, max: 400 }),
});

function run(
  world: World,
  { what, model, ms }: { what: (typeof COMMANDS)[number]; model: number; ms: number },
): void {
  const { id, life } = world.life(model);
  world.nowMs += ms / 10;
  if (what === 'ask' || what === 'askNow')
    life.waiting.push({ atMs: world.nowMs, isRealtime: what === 'askNow' });
  else if (what === 'hangUp') life.waiting.pop();
  else if (what === 'answer') life.running = Math.max(0, life.running - 1);
  else if (what === 'loaded') world.loaded(id);
  else if (what === 'ended') world.ended(id);
  else if (what === 'failed') world.failed(id);
  else world.nowMs += ms;
  world.settle();
}

/** All loads succeed, all processes end, and everything is answered. */
function runOut(world: World): void {
  for (let round = 0; round < 400; round += 1) {
    world.nowMs += 50;
    for (const { id } of world.models) {
      world.loaded(id);
      world.lives.get(id)!.running = 0;
      world.ended(id);
    }
    world.settle();
  }
}

const models = fc.array(
  fc.record({ memory: fc.integer({ min: 1, max: 6 }), both: fc.boolean(), prewarm: fc.boolean() }),
  { minLength: 2, maxLength: 5 },
);

/** The first may be pinned: pins must fit. */
const placed = (
  sizes: readonly { memory: number; both: boolean; prewarm: boolean }[],
  pin: boolean,
) =>
  sizes.map(({ memory, both, prewarm }, index) => ({
    ...{ id: `m${index}`, memory: pin && index > 0 ? Math.min(memory, 4) : memory, prewarm },
    devices: both ? ['gpu1', 'gpu0'] : ['gpu0'],
    pin: pin && index === 0,
  }));

describe('memory of devices', () => {
  it.each([
    ['fair swaps', () => new FairSwaps()],
    ['least recently used', () => new LeastRecentlyUsed()],
  ] as const)('is never exceeded by what is loaded, loading or leaving: %s', (_, policy) => {
    fc.assert(
      fc.property(
        models,
        fc.boolean(),
        fc.array(command, { maxLength: 80 }),
        (sizes, pin, commands) => {
          const world = new World(placed(sizes, pin), policy());
          for (const one of commands) run(world, one);
        },
      ),
      { numRuns: RUNS },
    );
  });

  it('is given to everybody who waits in the end, whatever happened before', () => {
    fc.assert(
      fc.property(
        models,
        fc.boolean(),
        fc.array(command, { maxLength: 80 }),
        (sizes, pin, commands) => {
          const world = new World(placed(sizes, pin), new FairSwaps());
          for (const one of commands) run(world, one);
          runOut(world);
          expect([...world.lives.values()].map(({ waiting }) => waiting.length)).toEqual(
            sizes.map(() => 0),
          );
        },
      ),
      { numRuns: RUNS },
    );
  });
});

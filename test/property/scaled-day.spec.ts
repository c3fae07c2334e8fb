import { describe, expect, it } from '@jest/globals';
import { RecentArrivals } from '../../src/core/forecast/arrivals.js';
import { replicasWanted } from '../../src/core/forecast/replicas-wanted.js';

const DAY_S = 86_400;
const DEVICES = 4;
/** Longest wait; a replica loads its model for so long; as KEDA and its autoscaler look. */
const [ALLOWED_S, LOADING_S, POLL_S, STABLE_S] = [60, 45, 15, 300];
const MOST = 20;

interface Arrival {
  readonly atS: number;
  readonly workS: number;
}

/** Numbers from 0 to 1, the same for a seed. */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** A quiet night, a busy noon and afternoon, and three bursts at any time. */
function dayOf(seed: number): readonly Arrival[] {
  const random = randomOf(seed);
  const workS = (): number => 1 + 6 * random() * random();
  const arrivals: Arrival[] = [];
  for (let atS = 0; atS < DAY_S;) {
    const hour = atS / 3600;
    const peak = (at: number, wide: number): number => Math.exp(-(((hour - at) / wide) ** 2));
    const perS = 0.05 + 4 * peak(11, 2.5) + 3 * peak(16, 2);
    atS += -Math.log(1 - random()) / perS;
    arrivals.push({ atS, workS: workS() });
  }
  for (let burst = 0; burst < 3; burst++) {
    const atS = random() * DAY_S;
    for (let one = 0; one < 60; one++) arrivals.push({ atS: atS + random() * 30, workS: workS() });
  }
  return arrivals.sort((a, b) => a.atS - b.atS);
}

interface Replica {
  /** When each device is free, seconds. */
  readonly free: number[];
  readonly fromS: number;
  /** Takes nothing new, and ends when it is done. */
  leaves: boolean;
}

interface Outcome {
  /** Share of requests that started in time. */
  readonly kept: number;
  readonly replicaHours: number;
}

/** One day, second by second, first in, first out. @param wantedAt replicas, as known at that time */
function run(
  arrivals: readonly Arrival[],
  wantedAt: (state: {
    readonly nowS: number;
    readonly waiting: readonly Arrival[];
    readonly replicas: readonly Replica[];
    readonly came: RecentArrivals;
  }) => number,
  start: number,
): Outcome {
  const came = new RecentArrivals();
  const made = (fromS: number): Replica => ({
    free: Array<number>(DEVICES).fill(fromS),
    fromS,
    leaves: false,
  });
  let replicas = Array.from({ length: start }, () => made(0));
  let [next, begun, kept, replicaS] = [0, 0, 0, 0];
  const recent: number[] = [];
  for (let nowS = 0; nowS < DAY_S + 600; nowS++) {
    for (; next < arrivals.length && arrivals[next]!.atS <= nowS; next++)
      came.came({ costMs: arrivals[next]!.workS * 1000 }, nowS * 1000);
    for (const { free, leaves } of replicas)
      for (let at = 0; at < DEVICES && !leaves && begun < next; at++) {
        if (free[at]! > nowS) continue;
        const { atS, workS } = arrivals[begun++]!;
        free[at] = nowS + workS;
        if (nowS - atS <= ALLOWED_S) kept += 1;
      }
    replicas = replicas.filter(({ free, leaves }) => !leaves || free.some(at => at > nowS));
    replicaS += replicas.length;
    if (nowS % POLL_S > 0) continue;
    const waiting = arrivals.slice(begun, next);
    recent.push(wantedAt({ nowS, waiting, replicas, came }));
    if (recent.length > STABLE_S / POLL_S) recent.shift();
    const staying = replicas.filter(({ leaves }) => !leaves);
    // Up at once, down to the largest number of the last minutes.
    const target = Math.min(MOST, Math.max(1, ...recent));
    for (let at = staying.length; at < target; at++) replicas.push(made(nowS + LOADING_S));
    for (const replica of staying.slice(target)) replica.leaves = true;
  }
  return { kept: kept / arrivals.length, replicaHours: replicaS / 3600 };
}

const followed = (arrivals: readonly Arrival[]): Outcome =>
  run(
    arrivals,
    ({ nowS, waiting, replicas, came }) =>
      replicasWanted({
        waiting: waiting.map(({ atS, workS }) => ({
          workMs: workS * 1000,
          startInMs: (atS + ALLOWED_S - nowS) * 1000,
          allowedMs: ALLOWED_S * 1000,
        })),
        running: replicas.flatMap(({ free, fromS }) =>
          fromS > nowS ? [] : free.filter(at => at > nowS).map(at => (at - nowS) * 1000),
        ),
        load: came.load(nowS * 1000),
        devices: DEVICES,
      }),
    1,
  );

/** The least number that keeps as many, known afterwards. */
function bestFixed(arrivals: readonly Arrival[]): Outcome {
  const workS = arrivals.reduce((sum, one) => sum + one.workS, 0);
  for (let count = Math.ceil(workS / DAY_S / DEVICES); count <= MOST; count++) {
    const outcome = run(arrivals, () => count, count);
    if (outcome.kept >= 0.99) return outcome;
  }
  throw new Error('no fixed number keeps 99 %');
}

describe('a day on as many replicas as are wanted', () => {
  it.each([1, 2])(
    'of seed %d keeps 99 % of the deadlines, with at most 1.15 times the time of the best fixed number',
    seed => {
      const arrivals = dayOf(seed);
      const [scaled, fixed] = [followed(arrivals), bestFixed(arrivals)];
      if (process.env.SCALED_DAY)
        process.stdout.write(
          JSON.stringify({ seed, requests: arrivals.length, scaled, fixed }) + '\n',
        );
      expect(scaled.kept).toBeGreaterThanOrEqual(0.99);
      expect(scaled.replicaHours).toBeLessThanOrEqual(1.15 * fixed.replicaHours);
    },
  );
});

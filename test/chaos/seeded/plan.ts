import { type RandomSource, seededRandom } from '../../bench/support/seeded-random.js';
import { FAULTS, type FaultName } from './faults.js';

export const TOPOLOGIES = ['single', 'cluster'] as const;
export type TopologyName = (typeof TOPOLOGIES)[number];

export interface PlannedFault {
  readonly name: FaultName;
  /** After the begin of the traffic. */
  readonly atMs: number;
  /** How long it lasts; 0: a blow. */
  readonly ms: number;
  /** Chooses among the processes that it may strike, from 0 to 1. */
  readonly pick: number;
}

export interface EpisodePlan {
  readonly seed: number;
  readonly topology: TopologyName;
  readonly faults: readonly PlannedFault[];
}

export interface PlanOptions {
  readonly topology?: TopologyName | undefined;
  /** Each once; absent: one to three, drawn. */
  readonly faults?: readonly WantedFault[] | undefined;
}

export interface WantedFault {
  readonly name: FaultName;
  /** Absent: drawn from those of the fault. */
  readonly ms?: number | undefined;
}

/** Callers are at work by then. */
const FIRST_MS = 1500;
const SPREAD_MS = 6000;

/** The same plan for the same seed and options, whatever the machine does. */
export function planEpisode(seed: number, { topology: wanted, faults }: PlanOptions): EpisodePlan {
  // Neighbouring seeds begin alike.
  const random = seededRandom(Math.imul(seed + 1, 0x9e3779b1));
  const drawn = pickFrom(random, TOPOLOGIES);
  const topology = wanted ?? drawn;
  const chosen = faults ?? drawFaults(random, topology);
  const planned = chosen.map(({ name, ms }) => ({
    ...{ name, atMs: Math.round(FIRST_MS + random() * SPREAD_MS), pick: random() },
    ms: ms ?? drawDuration(random, name),
  }));
  return { seed, topology, faults: planned.sort((a, b) => a.atMs - b.atMs) };
}

/**
 * Faults of the whole plan, one after the other: waiting callers may have to
 * wait as long.
 */
export const faultMs = ({ faults }: EpisodePlan): number =>
  faults.reduce((sum, { ms }) => sum + ms, 0);

/**
 * Attempts of all callers that may have no answer: none when no caller may notice, else for
 * each fault one of each caller, and one more for each time that callers wait for it.
 */
export const mostUnanswered = (plan: EpisodePlan, callers: number, patienceMs: number): number =>
  isHidden(plan)
    ? 0
    : plan.faults.reduce((sum, { ms }) => sum + callers * (1 + Math.ceil(ms / patienceMs)), 0);

/**
 * At most one attempt of a request can be lost, so that no caller may notice anything.
 */
export const isHidden = ({ faults }: EpisodePlan): boolean =>
  faults.every(({ name }) => FAULTS.get(name)!.isHidden) &&
  faults.filter(({ name }) => name.endsWith('-worker') && !name.startsWith('term')).length <= 1;

function drawFaults(random: RandomSource, topology: TopologyName): WantedFault[] {
  const possible = [...FAULTS.values()].filter(({ topologies }) => topologies.includes(topology));
  const count = 1 + Math.floor(random() * 3);
  return Array.from({ length: count }, () => ({
    name: pickFrom(random, possible).name,
  }));
}

/** Short ones mostly: the list of a fault begins with what is usual. */
function drawDuration(random: RandomSource, name: FaultName): number {
  const { durationsMs } = FAULTS.get(name)!;
  const at = Math.floor(Math.log2(1 / (1 - random())) / 2);
  return durationsMs[Math.min(at, durationsMs.length - 1)]!;
}

export function pickFrom<T>(random: RandomSource, list: readonly T[]): T {
  return list[Math.floor(random() * list.length)]!;
}

import { effectiveClass } from './fair-queue.js';

export interface PreemptionOptions {
  /** Milliseconds of waiting that outweigh one priority class (D-21). */
  readonly classWidthMs: number;
  /** Times that a request may lose its memory to others; from then on it is let in with all it can ever need. */
  readonly maxPreemptions: number;
  /** Milliseconds after which one whose consumer takes nothing gives its place to who waits. */
  readonly pauseGraceMs: number;
}

/** A running sequence as this choice sees it. */
export interface PreemptionCandidate {
  readonly key: number;
  readonly preemptions: number;
  /** It runs because it was its turn while class 0 waited (D-03). */
  readonly hadTurn: boolean;
  readonly pausedSinceMs: number | undefined;
}

/** `rows` are oldest first: who leaves for one that decodes and needs memory. A paused one, else the youngest that may. */
export function victimForGrowth<S extends PreemptionCandidate>(rows: readonly S[], { maxPreemptions }: PreemptionOptions): S {
  const victim =
    rows.findLast(({ pausedSinceMs }) => pausedSinceMs !== undefined) ??
    rows.findLast(({ preemptions }) => preemptions < maxPreemptions);
  // Who may not be preempted holds all it needs and does not grow; so the one that grows may be.
  if (victim === undefined) throw new Error('A sequence grows although it holds all it can need.');
  return victim;
}

/** `rows` are oldest first: who may leave for `next`. First who is paused for long, then lower classes, the youngest first. */
export function victimsFor<S extends PreemptionCandidate>(
  next: PreemptionCandidate,
  rows: readonly S[],
  nowMs: number,
  { classWidthMs, maxPreemptions, pauseGraceMs }: PreemptionOptions,
): S[] {
  const level = effectiveClass(next.key, nowMs, classWidthMs);
  const youngest = rows.toReversed();
  const isLower = ({ key, hadTurn }: S): boolean => !hadTurn && effectiveClass(key, nowMs, classWidthMs) > level;
  return [
    ...youngest.filter(({ pausedSinceMs }) => pausedSinceMs !== undefined && nowMs - pausedSinceMs >= pauseGraceMs),
    ...youngest.filter(row => row.pausedSinceMs === undefined && row.preemptions < maxPreemptions && isLower(row)),
  ];
}

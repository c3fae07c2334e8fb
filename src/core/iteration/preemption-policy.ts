export interface PreemptionOptions {
  /** Milliseconds of waiting that outweigh one priority class (D-21). */
  readonly classWidthMs: number;
  /**
   * Times that a request may lose its memory to others; from then on it is admitted with
   * all it can ever need.
   */
  readonly maxPreemptions: number;
  /**
   * Milliseconds after which a paused sequence gives its row and memory to a waiting one.
   */
  readonly pauseGraceMs: number;
}

/** A running sequence. */
interface PreemptionCandidate {
  readonly key: number;
  readonly preemptions: number;
  /** It was admitted by its aging turn while class 0 waited (D-03). */
  readonly hadTurn: boolean;
  readonly pausedSinceMs: number | undefined;
}

/**
 * The class that a sequence counts as at `nowMs`: its own, less one for each
 * `classWidthMs` of waiting. It falls out of the static key, and so never changes the
 * order of two requests of one tenant.
 */
const effectiveClass = (key: number, nowMs: number, classWidthMs: number): number =>
  Math.max(0, Math.ceil((key - nowMs) / classWidthMs));

/**
 * The row that leaves for one that decodes and needs memory: a paused one, else the
 * youngest that may. `rows` are oldest first.
 */
export function victimForGrowth<S extends PreemptionCandidate>(
  rows: readonly S[],
  { maxPreemptions }: PreemptionOptions,
): S {
  const victim =
    rows.findLast(({ pausedSinceMs }) => pausedSinceMs !== undefined) ??
    rows.findLast(({ preemptions }) => preemptions < maxPreemptions);
  // A row that may not be preempted holds all it needs and does not grow; so the one that
  // grows may be.
  if (victim === undefined)
    throw new Error('A sequence grows although it holds all it can need.');
  return victim;
}

/**
 * Rows that may leave for `next`: first long-paused ones, then lower classes, the
 * youngest first. `rows` are oldest first.
 */
export function victimsFor<S extends PreemptionCandidate>(
  next: PreemptionCandidate,
  rows: readonly S[],
  nowMs: number,
  { classWidthMs, maxPreemptions, pauseGraceMs }: PreemptionOptions,
): S[] {
  const level = effectiveClass(next.key, nowMs, classWidthMs);
  const youngest = rows.toReversed();
  const isLower = ({ key, hadTurn }: S): boolean =>
    !hadTurn && effectiveClass(key, nowMs, classWidthMs) > level;
  return [
    ...youngest.filter(
      ({ pausedSinceMs }) =>
        pausedSinceMs !== undefined && nowMs - pausedSinceMs >= pauseGraceMs,
    ),
    ...youngest.filter(
      row =>
        row.pausedSinceMs === undefined &&
        row.preemptions < maxPreemptions &&
        isLower(row),
    ),
  ];
}

import { type WorkerHealthReport } from '@switchyard/worker-protocol/health.codec.js';
import { type BreakerState, type WorkerView } from './worker-view.js';

/** State of a worker, without its circuit breaker and its requests. README "States". */
export type PoolPhase =
  | 'stopped'
  | 'starting'
  | 'ready'
  | 'unresponsive'
  | 'draining'
  | 'lost'
  | 'closing';

/** What each phase allows, and its log level. No event leads out of a final phase. */
export const PHASES: Readonly<
  Record<
    PoolPhase,
    { readonly offers?: true; readonly isFinal?: true; readonly level: 'info' | 'warn' }
  >
> = {
  stopped: { level: 'info' },
  starting: { level: 'info' },
  ready: { offers: true, level: 'info' },
  unresponsive: { level: 'warn' },
  draining: { level: 'info' },
  lost: { level: 'warn' },
  closing: { isFinal: true, level: 'info' },
};

/** The phase that each event leads to, from `ready` only or from every phase that is not final. */
const EVENTS = {
  /** A process is being started, or has opened its port. */
  started: { to: 'starting' },
  /** Its Health reports that it loads, or holds a field that is out of range. */
  unready: { to: 'starting' },
  /** Its Health reports that it takes work. */
  serves: { to: 'ready' },
  /** Its Health reports that it drains, or an operator drained it. */
  drains: { to: 'draining' },
  /** An operator drains it, or its answer to a request says that it takes none. */
  withdrawn: { from: 'ready', to: 'draining' },
  /** One probe failed. */
  silent: { from: 'ready', to: 'unresponsive' },
  /**
   * Its connection broke and has been replaced: a probe over the new one must
   * be answered first.
   */
  disconnected: { from: 'ready', to: 'lost' },
  /** So many probes failed in a row that it counts as lost. */
  hung: { to: 'lost' },
  /** Its process is gone; another one may follow. */
  ended: { to: 'lost' },
  /** Its model is unloaded, its address record is gone, or the pool closes. */
  closed: { to: 'closing' },
} as const satisfies Readonly<
  Record<string, { readonly from?: PoolPhase; readonly to: PoolPhase }>
>;

export type WorkerEvent = keyof typeof EVENTS;

/** The phase after an event; the same one where the event changes nothing. */
export function phaseAfter(phase: PoolPhase, event: WorkerEvent): PoolPhase {
  const { from, to }: { readonly from?: PoolPhase; readonly to: PoolPhase } = EVENTS[event];
  const isMoved = !PHASES[phase].isFinal && (from ?? phase) === phase;
  return isMoved ? to : phase;
}

/**
 * Derived from `ready`: `busy` with at least one slot leased, `suspended` while the
 * circuit breaker is not closed.
 */
export function shownStatus(
  phase: PoolPhase,
  breaker: BreakerState,
  inUse: number,
): WorkerView['state'] {
  if (phase === 'closing') return 'draining';
  if (phase !== 'ready') return phase;
  if (breaker !== 'closed') return 'suspended';
  return inUse > 0 ? 'busy' : 'ready';
}

/** What an answered probe means. @param isSound nothing is wrong with the report */
export function eventOf(
  { state }: WorkerHealthReport,
  isSound: boolean,
  isHeld: boolean,
): WorkerEvent {
  if (!isSound || state === 'starting') return 'unready';
  return isHeld || state === 'draining' ? 'drains' : 'serves';
}

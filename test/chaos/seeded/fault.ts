import { type Ledger } from './ledger.js';
import { type PlannedFault, type TopologyName } from './plan.js';
import { type Topology, type Victim, type VictimKind } from './topology.js';

export interface Blow {
  readonly topology: Topology;
  readonly ledger: Ledger;
  readonly fault: PlannedFault;
  /** For the report: what was struck, and when. */
  log(text: string): void;
}

export interface Fault<Name extends string = string> {
  readonly name: Name;
  readonly about: string;
  readonly topologies: readonly TopologyName[];
  /**
   * Callers must not notice one of these: another process does the work, perhaps later.
   */
  readonly isHidden?: boolean;
  /** A gateway does not answer meanwhile; with any other fault each connection has an answer. */
  readonly silences?: boolean;
  /** It strikes the database: what a stream of a stored request ends with waits for it. */
  readonly isOfDatabase?: boolean;
  /** How long callers may still wait for what was lost, after it is over. */
  readonly lingersMs?: number;
  /** The usual one first; 0: a blow. */
  readonly durationsMs: readonly number[];
  /** Resolves when it is over. */
  strike(blow: Blow): Promise<void>;
}

export const BLOW = [0] as const;
export const OUTAGES = [4000, 10_000, 30_000] as const;
export const BOTH = ['single', 'cluster'] as const;
export const CLUSTER = ['cluster'] as const;

export const whereOf = (kind: VictimKind): readonly TopologyName[] =>
  kind === 'redis' || kind === 'postgres' ? CLUSTER : BOTH;

export const ofDatabase = (kind: VictimKind) => ({ isOfDatabase: kind === 'postgres' });

export function chosen({ topology, fault, log }: Blow, kind: VictimKind): Victim | undefined {
  const victims = topology.victims(kind);
  const victim = victims[Math.floor(fault.pick * victims.length)];
  if (!victim) log(`no ${kind} runs`);
  return victim;
}

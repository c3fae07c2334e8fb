import { pause } from '../../support/waiting.js';
import { ClusterTopology, startServer, untilListening } from './cluster-topology.js';
import { type Ledger } from './ledger.js';
import { type PlannedFault, type TopologyName } from './plan.js';
import { databaseReadOnly, redisCommand } from './server-commands.js';
import { type Ending, type SupervisedProcess } from './supervised-process.js';
import { type Topology, type Victim, type VictimKind } from './topology.js';

export interface Blow {
  readonly topology: Topology;
  readonly ledger: Ledger;
  readonly fault: PlannedFault;
  /** For the report: what was struck, and when. */
  log(text: string): void;
}

interface Fault<Name extends string = string> {
  readonly name: Name;
  readonly about: string;
  readonly topologies: readonly TopologyName[];
  /**
   * Callers must not notice one of these: another process does the work, perhaps later.
   */
  readonly isHidden?: boolean;
  /** The usual one first; 0: a blow. */
  readonly durationsMs: readonly number[];
  /** Resolves when it is over. */
  strike(blow: Blow): Promise<void>;
}

/** Beyond the grace of 10 s: what the launcher waits before it kills. */
const END_LIMIT_MS = 20_000;
/** Until then Node may not listen to signals yet: a process ends by the signal itself. */
const BOOT_MS = 10_000;
/** How long a machine is given to replace what was killed. */
const DOWN_MS = 300;
const PERSIST_MS = 60_000;
const BLOW = [0] as const;
const FREEZES = [5000, 20_000, 60_000] as const;
const OUTAGES = [4000, 10_000, 30_000] as const;
const BOTH = ['single', 'cluster'] as const;
const CLUSTER = ['cluster'] as const;

const isHidden = (kind: VictimKind): boolean => kind === 'worker' || kind === 'processor';

const whereOf = (kind: VictimKind): readonly TopologyName[] =>
  kind === 'redis' || kind === 'postgres' ? CLUSTER : BOTH;

const kill = <K extends VictimKind>(kind: K) => ({
  ...{
    name: `kill-${kind}` as const,
    about: `kill -9 of a ${kind}; it is started again`,
    topologies: whereOf(kind),
  },
  ...{ durationsMs: BLOW, isHidden: isHidden(kind) },
  strike: async (blow: Blow) => {
    const victim = chosen(blow, kind);
    blow.log(`kill -9 ${victim?.name}`);
    if (!victim?.process) return victim?.signal('SIGKILL');
    await victim.process.end('SIGKILL');
    await pause(DOWN_MS);
    victim.process.start();
  },
});

const terminate = <K extends VictimKind>(kind: K) => ({
  ...{
    name: `term-${kind}` as const,
    about: `SIGTERM to a ${kind}; it is started again`,
    topologies: whereOf(kind),
  },
  ...{ durationsMs: BLOW, isHidden: isHidden(kind) },
  strike: async (blow: Blow) => {
    const victim = chosen(blow, kind);
    if (victim?.process) return restartOrderly(blow, victim.process);
    blow.log(`SIGTERM ${victim?.name}`);
    victim?.signal('SIGTERM');
  },
});

const freeze = <K extends VictimKind>(kind: K) => ({
  ...{
    name: `freeze-${kind}` as const,
    about: `SIGSTOP of a ${kind}, SIGCONT later`,
    topologies: whereOf(kind),
  },
  ...{ durationsMs: FREEZES, isHidden: isHidden(kind) },
  strike: async (blow: Blow) => {
    const victim = chosen(blow, kind);
    if (!victim) return;
    blow.log(`SIGSTOP ${victim.name}`);
    victim.signal('SIGSTOP');
    await pause(blow.fault.ms);
    victim.signal('SIGCONT');
    blow.log(`SIGCONT ${victim.name}`);
  },
});

const away = <K extends VictimKind>(kind: K) => ({
  ...{
    name: `${kind}-away` as const,
    about: `no ${kind}: connections are refused`,
    topologies: whereOf(kind),
  },
  durationsMs: OUTAGES,
  strike: async (blow: Blow) => {
    const process = blow.topology.of(kind)[0]!;
    blow.log(`${process.spec.name} away`);
    await process.end('SIGKILL');
    await pause(blow.fault.ms);
    await startServer(process);
    blow.log(`${process.spec.name} back`);
  },
});

/** SIGTERM, an end in time, and a start. */
async function restartOrderly({ log, ledger }: Blow, process: SupervisedProcess): Promise<void> {
  const { name, stopSignal = 'SIGTERM' } = process.spec;
  log(`${stopSignal} ${name}`);
  const ending = await process.end(stopSignal, END_LIMIT_MS);
  log(`${name} ended: ${ending.by}, after ${Math.round(ending.ms)} ms`);
  noteEnding(ledger, process, ending);
  process.start();
}

/** @param ending of a process that was told to end orderly */
export function noteEnding(
  ledger: Ledger,
  { spec: { name, kind } }: SupervisedProcess,
  ending: Ending,
): void {
  const { by, isLate, ageMs } = ending;
  const ms = Math.round(ending.ms);
  if (isLate)
    return ledger.note('end', `${name} did not end within ${ms} ms of SIGTERM and was killed`);
  // SIGKILL came from another fault; a signal ends a process that does not listen yet.
  if (kind === 'upstream' || by === 0 || by === 'down' || by === 'SIGKILL' || ageMs < BOOT_MS)
    return;
  ledger.note('end', `${name} ended with ${by} ${ms} ms after SIGTERM; wanted: 0`);
}

function chosen({ topology, fault, log }: Blow, kind: VictimKind): Victim | undefined {
  const victims = topology.victims(kind);
  const victim = victims[Math.floor(fault.pick * victims.length)];
  if (!victim) log(`no ${kind} runs`);
  return victim;
}

/**
 * Each kind in turn, as an upgrade does it; the next one when all gateways have
 * all models again.
 */
async function rollingRestart(blow: Blow): Promise<void> {
  for (const kind of ['worker', 'gateway', 'processor'] as const) {
    for (const process of blow.topology.of(kind)) {
      await restartOrderly(blow, process);
      await blow.topology.untilReady();
    }
  }
}

async function fillDisk({ topology, fault, log }: Blow): Promise<void> {
  const { disk } = topology;
  if (!disk) throw new Error('the data folder is on no small disk');
  log('data folder full');
  await disk.fill();
  await pause(fault.ms);
  await disk.makeRoom();
  log('data folder has room');
}

async function fillDatabase({ topology, fault, log }: Blow): Promise<void> {
  const disk = topology instanceof ClusterTopology ? topology.databaseDisk : undefined;
  if (!disk) throw new Error('PostgreSQL is on no small disk');
  log('disk of PostgreSQL full');
  await disk.fill();
  await pause(fault.ms);
  await disk.makeRoom();
  log('disk of PostgreSQL has room');
}

/**
 * Repeated while another fault prevents it: PostgreSQL stores no setting on a full disk.
 */
async function persisted(
  process: SupervisedProcess,
  act: (port: number) => Promise<void>,
): Promise<void> {
  for (const endMs = performance.now() + PERSIST_MS; ; await pause(500)) {
    await untilListening(process);
    try {
      return await act(process.spec.port);
    } catch (error) {
      if (performance.now() > endMs) throw error;
    }
  }
}

/** What a server is told, and what undoes it. */
const told =
  (
    kind: 'redis' | 'postgres',
    begin: (port: number) => Promise<void>,
    end: (port: number) => Promise<void>,
  ) =>
  async ({ topology, fault, log }: Blow): Promise<void> => {
    const process = topology.of(kind)[0]!;
    const { name } = process.spec;
    await untilListening(process);
    log(`${name}: ${fault.name}`);
    await persisted(process, begin);
    await pause(fault.ms);
    await persisted(process, end);
    log(`${name}: ${fault.name} is over`);
  };

const LIST = [
  ...[
    kill('gateway'),
    kill('worker'),
    kill('processor'),
    kill('redis'),
    kill('postgres'),
    kill('upstream'),
  ],
  ...[
    terminate('gateway'),
    terminate('worker'),
    terminate('processor'),
    terminate('redis'),
    terminate('postgres'),
  ],
  ...[
    freeze('gateway'),
    freeze('worker'),
    freeze('processor'),
    freeze('redis'),
    freeze('postgres'),
  ],
  ...[freeze('upstream'), away('redis'), away('postgres'), away('upstream')],
  {
    ...{
      name: 'rolling-restart' as const,
      about: 'SIGTERM to every process of Switchyard, one after the other',
    },
    ...{ topologies: BOTH, durationsMs: BLOW, strike: rollingRestart },
  },
  {
    ...{
      name: 'disk-full' as const,
      about: 'no byte left in the data folder',
      topologies: BOTH,
    },
    ...{ durationsMs: OUTAGES, strike: fillDisk },
  },
  {
    ...{
      name: 'postgres-full' as const,
      about: 'no byte left for PostgreSQL',
      topologies: CLUSTER,
    },
    ...{ durationsMs: OUTAGES, strike: fillDatabase },
  },
  {
    ...{
      name: 'postgres-readonly' as const,
      about: 'PostgreSQL takes no writes, as during a failover',
    },
    ...{ topologies: CLUSTER, durationsMs: OUTAGES },
    strike: told(
      'postgres',
      port => databaseReadOnly(port, true),
      port => databaseReadOnly(port, false),
    ),
  },
  {
    ...{ name: 'redis-readonly' as const, about: 'Redis takes no writes, as a replica' },
    ...{ topologies: CLUSTER, durationsMs: OUTAGES },
    strike: told(
      'redis',
      port => redisCommand(port, 'REPLICAOF', '127.0.0.1', '1'),
      port => redisCommand(port, 'REPLICAOF', 'NO', 'ONE'),
    ),
  },
  {
    ...{
      name: 'redis-full' as const,
      about: 'Redis has no memory for writes',
      topologies: CLUSTER,
    },
    durationsMs: OUTAGES,
    strike: told(
      'redis',
      port => redisCommand(port, 'CONFIG', 'SET', 'maxmemory', '1'),
      port => redisCommand(port, 'CONFIG', 'SET', 'maxmemory', '0'),
    ),
  },
] as const;

export type FaultName = (typeof LIST)[number]['name'];

/** By name. */
export const FAULTS: ReadonlyMap<FaultName, Fault<FaultName>> = new Map(
  LIST.map(fault => [fault.name, fault]),
);

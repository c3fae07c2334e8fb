import { formOf } from '../../support/form-of.js';
import { pause } from '../../support/waiting.js';
import { untilListening } from './cluster-topology.js';
import { BLOW, type Blow, BOTH, CLUSTER, type Fault, OUTAGES } from './fault.js';
import {
  clock,
  exhaustDescriptors,
  fillDatabase,
  fillDisk,
  frozenLink,
  halfOpen,
} from './machine-faults.js';
import { POISON } from './models.js';
import { away, freeze, kill, rollingRestart, rotateSecrets, terminate } from './process-faults.js';
import { databaseReadOnly, redisCommand } from './server-commands.js';
import { type SupervisedProcess } from './supervised-process.js';

const PERSIST_MS = 60_000;
const POISONS = 3;
const POISON_MS = 60_000;

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

/** A tenant whose inputs end each worker that hears them, one after the other. */
async function poison({ topology, ledger, log }: Blow): Promise<void> {
  for (let number = 1; number <= POISONS; number++) {
    const body = formOf(
      { model: 'synthetic' },
      `${POISON} ${number} ${performance.now()}`,
      'clip.wav',
    );
    const signal = AbortSignal.timeout(POISON_MS);
    const headers = { authorization: `Bearer ${topology.keys.initech!}` };
    const answer = await fetch(`${topology.url}/v1/audio/transcriptions`, {
      ...{ method: 'POST', headers, body, signal },
    }).catch(() => undefined);
    log(`poison ${number} was answered ${answer?.status}`);
    if (answer?.ok) ledger.note('wrong', `poison ${number} was answered ${answer.status}`);
  }
}

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
  ...[kill('s3'), freeze('s3'), away('s3')],
  ...[clock('gateway'), clock('worker'), clock('processor')],
  ...[
    halfOpen('redis'),
    halfOpen('postgres'),
    halfOpen('upstream'),
    halfOpen('worker'),
    halfOpen('s3'),
  ],
  ...[
    frozenLink('redis'),
    frozenLink('postgres'),
    frozenLink('upstream'),
    frozenLink('worker'),
    frozenLink('s3'),
  ],
  {
    ...{
      name: 'rolling-restart' as const,
      about: 'SIGTERM to every process of Switchyard, one after the other',
    },
    ...{ topologies: BOTH, durationsMs: BLOW, silences: true, strike: rollingRestart },
  },
  {
    ...{
      name: 'rotate-secrets' as const,
      about: 'a new token secret, and gateways and processors restarted one after the other',
    },
    ...{ topologies: CLUSTER, durationsMs: BLOW, silences: true, strike: rotateSecrets },
  },
  {
    ...{
      name: 'no-descriptors' as const,
      about: 'a gateway gets no new descriptors',
      topologies: BOTH,
    },
    ...{ durationsMs: OUTAGES, silences: true, strike: exhaustDescriptors },
  },
  {
    ...{
      name: 'poison' as const,
      about: 'another tenant sends inputs that end workers',
      topologies: BOTH,
    },
    ...{ durationsMs: BLOW, strike: poison },
  },
  {
    ...{
      name: 'disk-full' as const,
      about: 'no byte left in the data folder',
      topologies: BOTH,
    },
    ...{ durationsMs: OUTAGES, isOfDatabase: true, strike: fillDisk },
  },
  {
    ...{
      name: 'postgres-full' as const,
      about: 'no byte left for PostgreSQL',
      topologies: CLUSTER,
    },
    ...{ durationsMs: OUTAGES, isOfDatabase: true, strike: fillDatabase },
  },
  {
    ...{
      name: 'postgres-readonly' as const,
      about: 'PostgreSQL takes no writes, as during a failover',
    },
    ...{ topologies: CLUSTER, durationsMs: OUTAGES, isOfDatabase: true },
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

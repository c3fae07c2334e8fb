import { NoDescriptors } from '../../support/no-descriptors.js';
import { pause } from '../../support/waiting.js';
import { ClusterTopology } from './cluster-topology.js';
import { type Blow, BOTH, chosen, CLUSTER, OUTAGES, whereOf } from './fault.js';
import { KEEP_ALIVE_MS } from './half-open-link.js';
import { type VictimKind } from './topology.js';

const HOUR_MS = 3_600_000;

export async function fillDisk({ topology, fault, log }: Blow): Promise<void> {
  const { disk } = topology;
  if (!disk) throw new Error('the data folder is on no small disk');
  log('data folder full');
  await disk.fill();
  await pause(fault.ms);
  await disk.makeRoom();
  log('data folder has room');
}

export async function fillDatabase({ topology, fault, log }: Blow): Promise<void> {
  const disk = topology instanceof ClusterTopology ? topology.databaseDisk : undefined;
  if (!disk) throw new Error('PostgreSQL is on no small disk');
  log('disk of PostgreSQL full');
  await disk.fill();
  await pause(fault.ms);
  await disk.makeRoom();
  log('disk of PostgreSQL has room');
}

/** The machine of one process has another time for a while; its neighbours keep theirs. */
export const clock = <K extends 'gateway' | 'worker' | 'processor'>(kind: K) => ({
  ...{ name: `clock-${kind}` as const, about: `the clock of a ${kind} an hour ahead or behind` },
  // The embedded ones of a gateway share its clock.
  ...{ topologies: kind === 'gateway' ? BOTH : CLUSTER, durationsMs: OUTAGES },
  strike: async (blow: Blow) => {
    const { topology, fault, log } = blow;
    const process = chosen(blow, kind)?.process;
    if (!process) return;
    const aheadMs = Math.round(fault.pick * 1000) % 2 === 0 ? HOUR_MS : -HOUR_MS;
    log(`clock of ${process.spec.name}: ${aheadMs / HOUR_MS} h`);
    topology.setClock(process, aheadMs);
    await pause(fault.ms);
    topology.setClock(process, 0);
    log(`clock of ${process.spec.name} is right again`);
  },
});

export const halfOpen = <K extends VictimKind>(kind: K) => ({
  ...{
    name: `half-open-${kind}` as const,
    about: `connections to a ${kind} fall silent, and no end is told`,
  },
  ...{ topologies: kind === 'worker' ? CLUSTER : whereOf(kind), durationsMs: OUTAGES },
  lingersMs: KEEP_ALIVE_MS,
  strike: async ({ topology, fault, log }: Blow) => {
    const links = topology.linksTo(kind);
    const link = links[Math.floor(fault.pick * links.length)]!;
    log(`link to ${kind} cut`);
    link.cut();
    await pause(fault.ms);
    link.heal();
    log(`link to ${kind} takes new connections`);
  },
});

/** Nothing is lost: what is sent while it lasts arrives afterwards, in one direction or both. */
export const frozenLink = <K extends VictimKind>(kind: K) => ({
  ...{
    name: `link-${kind}` as const,
    about: `connections to a ${kind} stay open and say nothing, in one direction or both`,
  },
  ...{ topologies: kind === 'worker' ? CLUSTER : whereOf(kind), durationsMs: OUTAGES },
  strike: async ({ topology, fault, log }: Blow) => {
    const links = topology.linksTo(kind);
    const link = links[Math.floor(fault.pick * links.length)]!;
    const way = [['there'], ['back'], ['there', 'back']] as const;
    const directions = way[Math.floor(fault.pick * 997) % way.length]!;
    log(`link to ${kind} frozen: ${directions.join(' and ')}`);
    link.freeze(...directions);
    await pause(fault.ms);
    link.thaw();
    log(`link to ${kind} goes on`);
  },
});

export async function exhaustDescriptors(blow: Blow): Promise<void> {
  const victim = chosen(blow, 'gateway');
  if (victim?.pid === undefined) return;
  blow.log(`${victim.name} gets no descriptors`);
  await using _none = await NoDescriptors.take(victim.pid);
  await pause(blow.fault.ms);
  blow.log(`${victim.name} gets descriptors again`);
}

import { pause } from '../../support/waiting.js';
import { startServer } from './cluster-topology.js';
import { BLOW, type Blow, chosen, ofDatabase, OUTAGES, whereOf } from './fault.js';
import { type Ledger } from './ledger.js';
import { type Ending, type SupervisedProcess } from './supervised-process.js';
import { type VictimKind } from './topology.js';

/** Beyond the grace of 10 s: what the launcher waits before it kills. */
const END_LIMIT_MS = 20_000;
/** Until then Node may not listen to signals yet: a process ends by the signal itself. */
const BOOT_MS = 10_000;
/** How long a machine is given to replace what was killed. */
const DOWN_MS = 300;
const FREEZES = [5000, 20_000, 60_000] as const;

/** What all blows to a process of that kind have in common. */
const blowTo = <K extends VictimKind>(kind: K, durationsMs: typeof BLOW | typeof FREEZES) => ({
  topologies: whereOf(kind),
  durationsMs,
  isHidden: kind === 'worker' || kind === 'processor',
  silences: kind === 'gateway',
  ...ofDatabase(kind),
});

export const kill = <K extends VictimKind>(kind: K) => ({
  name: `kill-${kind}` as const,
  about: `kill -9 of a ${kind}; it is started again`,
  ...blowTo(kind, BLOW),
  strike: async (blow: Blow) => {
    const victim = chosen(blow, kind);
    blow.log(`kill -9 ${victim?.name}`);
    if (!victim?.process) return victim?.signal('SIGKILL');
    await victim.process.end('SIGKILL');
    await pause(DOWN_MS);
    victim.process.start();
  },
});

export const terminate = <K extends VictimKind>(kind: K) => ({
  name: `term-${kind}` as const,
  about: `SIGTERM to a ${kind}; it is started again`,
  ...blowTo(kind, BLOW),
  strike: async (blow: Blow) => {
    const victim = chosen(blow, kind);
    if (victim?.process) return restartOrderly(blow, victim.process);
    blow.log(`SIGTERM ${victim?.name}`);
    victim?.signal('SIGTERM');
  },
});

export const freeze = <K extends VictimKind>(kind: K) => ({
  name: `freeze-${kind}` as const,
  about: `SIGSTOP of a ${kind}, SIGCONT later`,
  ...blowTo(kind, FREEZES),
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

export const away = <K extends VictimKind>(kind: K) => ({
  ...{
    name: `${kind}-away` as const,
    about: `no ${kind}: connections are refused`,
    topologies: whereOf(kind),
  },
  ...{ durationsMs: OUTAGES, ...ofDatabase(kind) },
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

/**
 * Each kind in turn, as an upgrade does it; the next one when all gateways have
 * all models again.
 */
export const rollingRestart = (blow: Blow): Promise<void> =>
  restartEach(blow, ['worker', 'gateway', 'processor']);

/** As the manual says: one that signs anew, the other one still accepted, and no break. */
export async function rotateSecrets(blow: Blow): Promise<void> {
  blow.log('a new token secret');
  blow.topology.renewTokenSecret();
  await restartEach(blow, ['gateway', 'processor']);
}

async function restartEach(blow: Blow, kinds: readonly VictimKind[]): Promise<void> {
  for (const kind of kinds) {
    for (const process of blow.topology.of(kind)) {
      process.upgrade();
      await restartOrderly(blow, process);
      await blow.topology.untilReady();
    }
  }
}

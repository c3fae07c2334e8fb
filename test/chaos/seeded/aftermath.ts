import { isAlive } from '@switchyard/engine-api/process/is-alive.js';
import { pause } from '../../support/waiting.js';
import { openDescriptors, otherEnd } from './descriptors.js';
import { type Ledger } from './ledger.js';
import { noteEnding } from './process-faults.js';
import { type SupervisedProcess } from './supervised-process.js';
import { type Topology } from './topology.js';

/** Leases of 15 s, retried work behind them, and slots that come back by a probe. */
const QUIET_MS = 60_000;
/**
 * Pools of connections grow while there is traffic; what leaks, leaks with every request.
 */
const SPARE_DESCRIPTORS = 24;
const ORPHAN_MS = 5000;
/** The grace of 10 s, and 5 s for a busy machine. */
const END_MS = 15_000;
const GAUGES = [
  'scheduler_queue_depth',
  'switchyard_requests_running',
  'switchyard_worker_slots_in_use',
];

/** Open descriptors by process, before anything happened. */
export type DescriptorBase = ReadonlyMap<string, number>;

const ours = (topology: Topology): readonly SupervisedProcess[] =>
  (['processor', 'gateway', 'worker'] as const).flatMap(kind => topology.of(kind));

export const descriptorBase = (topology: Topology): DescriptorBase =>
  new Map(ours(topology).map(({ spec, pid }) => [spec.name, openDescriptors(pid).length]));

/**
 * Nothing waits, nothing runs, every slot is free, and what was accepted is settled,
 * at every gateway.
 */
export async function expectQuiet(
  topology: Topology,
  ledger: Ledger,
  log: (text: string) => void,
): Promise<void> {
  if (!(await topology.untilReady(QUIET_MS)))
    ledger.note('slots', 'not every gateway is ready again after 60 s');
  log('all models are ready');
  for (const url of topology.gatewayUrls) {
    const left = await untilEmpty(async () => unsettled(topology, url));
    if (left.length > 0)
      ledger.note('slots', `${url} after ${QUIET_MS / 1000} s: ${left.join(', ')}`);
  }
}

async function unsettled(topology: Topology, url: string): Promise<readonly string[]> {
  try {
    const scrape = await topology.scrape(url);
    const left = GAUGES.filter(name => scrape.sum(name) !== 0).map(
      name => `${name} ${scrape.sum(name)}`,
    );
    const [accepted, settled] = [
      'switchyard_requests_accepted_total',
      'scheduler_requests_total',
    ].map(name => scrape.sum(name));
    return accepted === settled ? left : [...left, `accepted ${accepted}, settled ${settled}`];
  } catch (error) {
    return [`its metrics cannot be read: ${String(error)}`];
  }
}

/** Files and sockets of each process are back to what they were, but for its pools. */
export async function expectDescriptors(
  topology: Topology,
  base: DescriptorBase,
  ledger: Ledger,
): Promise<void> {
  for (const { spec, pid } of ours(topology)) {
    const before = base.get(spec.name)!;
    const tooMany = (): readonly string[] => {
      const open = withoutProcessors(openDescriptors(pid), topology);
      return open.length > before + SPARE_DESCRIPTORS ? open : [];
    };
    const open = await untilEmpty(() => Promise.resolve(tooMany()), 20_000);
    const numbers = `${spec.name}: ${open.length} open, ${before} before`;
    if (open.length > 0) ledger.note('descriptors', `${numbers}; ${open.join(' ')}`);
  }
}

/** Processors keep their connections to gateways for the next batch. */
function withoutProcessors(open: readonly string[], topology: Topology): readonly string[] {
  const theirs = new Set(
    topology.victims('processor').flatMap(({ pid }) => openDescriptors(pid).map(otherEnd)),
  );
  return open.filter(name => !theirs.has(name));
}

/**
 * Callers are gone: every process ends in time after SIGTERM, with 0, and
 * leaves no child.
 */
export async function expectEnds(
  topology: Topology,
  ledger: Ledger,
  log: (text: string) => void,
): Promise<void> {
  const children = (['worker', 'processor'] as const).flatMap(kind =>
    topology.victims(kind).map(({ pid }) => pid),
  );
  for (const kind of ['processor', 'gateway', 'worker', 'redis', 'postgres'] as const) {
    await Promise.all(
      topology.of(kind).map(async process => {
        const ending = await process.end(process.spec.stopSignal ?? 'SIGTERM', END_MS);
        log(`${process.spec.name} ended: ${ending.by}, after ${Math.round(ending.ms)} ms`);
        noteEnding(ledger, process, ending);
      }),
    );
  }
  const left = await untilEmpty(
    () => Promise.resolve(children.filter(pid => pid !== undefined && isAlive(pid)).map(String)),
    ORPHAN_MS,
  );
  if (left.length > 0)
    ledger.note('end', `processes live on after their gateway: ${left.join(', ')}`);
}

export async function untilEmpty(
  list: () => Promise<readonly string[]>,
  limitMs = QUIET_MS,
): Promise<readonly string[]> {
  let left = await list();
  for (
    const endMs = performance.now() + limitMs;
    left.length > 0 && performance.now() < endMs;
    left = await list()
  )
    await pause(200);
  return left;
}

import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pause } from '../../support/waiting.js';
import { expectComputedOnce } from './queue-journal.js';
import { descriptorBase, expectDescriptors, expectEnds, expectQuiet } from './aftermath.js';
import { ClusterTopology } from './cluster-topology.js';
import { FAULTS } from './faults.js';
import { Ledger, type Violation } from './ledger.js';
import { type EpisodePlan, faultMs, isHidden, type PlannedFault } from './plan.js';
import { SingleTopology } from './single-topology.js';
import { type OperationName, Traffic } from './traffic.js';
import { type Topology } from './topology.js';

/** Traffic after the last fault. */
const AFTER_MS = 2000;
/** The longest wait that a promise of the product allows besides the faults: leases, retries and back-offs. */
const PATIENCE_MS = 120_000;

export interface EpisodeOptions {
  /** For the logs of this episode. */
  readonly folder: string;
  readonly settings: Readonly<Record<string, string>>;
  readonly operations: readonly OperationName[];
  /** Leaves the logs of an episode that passed, too. */
  readonly keep: boolean;
}

export interface EpisodeResult {
  readonly plan: EpisodePlan;
  /** What was struck, when; milliseconds since the begin of the traffic. */
  readonly strikes: readonly string[];
  readonly violations: readonly Violation[];
  readonly settled: Readonly<Record<string, number>>;
  readonly attempts: number;
  readonly ms: number;
}

export async function runEpisode(plan: EpisodePlan, options: EpisodeOptions): Promise<EpisodeResult> {
  const startMs = performance.now();
  mkdirSync(options.folder, { recursive: true });
  // PostgreSQL's own account passes through it.
  chmodSync(options.folder, 0o755);
  const ledger = new Ledger();
  const strikes: string[] = [];
  try {
    await using topology = topologyOf(plan, { ...options, ledger });
    await topology.start();
    await underFire(topology, { plan, ledger, strikes, operations: options.operations });
  } catch (error) {
    ledger.note('crash', `the episode broke off: ${error instanceof Error ? error.stack : String(error)}`);
  }
  const { violations, settled, attempts } = ledger;
  const ms = Math.round(performance.now() - startMs);
  const result = { plan, strikes, violations, settled: Object.fromEntries(settled), attempts, ms };
  clean(options, result);
  return result;
}

interface Fire {
  readonly plan: EpisodePlan;
  readonly ledger: Ledger;
  readonly strikes: string[];
  readonly operations: readonly OperationName[];
}

async function underFire(topology: Topology, { plan, ledger, strikes, operations }: Fire): Promise<void> {
  const base = descriptorBase(topology);
  const beginMs = ledger.nowMs;
  const log = (text: string): void => void strikes.push(`${((ledger.nowMs - beginMs) / 1000).toFixed(2)} s ${text}`);
  const limitMs = PATIENCE_MS + faultMs(plan);
  const traffic = new Traffic({ topology, ledger, operations, seed: plan.seed, limitMs, isCalm: isHidden(plan) });
  const strike = async (fault: PlannedFault): Promise<void> => {
    await pause(fault.atMs);
    await FAULTS.get(fault.name)!.strike({ topology, ledger, fault, log });
  };
  await Promise.all(plan.faults.map(strike));
  await pause(AFTER_MS);
  log('no new requests');
  await traffic.finish();
  ledger.noteStuck();
  log('all settled');
  await expectQuiet(topology, ledger, log);
  await expectComputedOnce(topology, ledger);
  await expectDescriptors(topology, base, ledger);
  log('quiet');
  await expectEnds(topology, ledger);
  log('ended');
}

function topologyOf(plan: EpisodePlan, options: EpisodeOptions & { readonly ledger: Ledger }): Topology {
  const strikes = (name: string): boolean => plan.faults.some(fault => fault.name === name);
  const common = { ...options, hasSmallDisk: strikes('disk-full') };
  if (plan.topology === 'single') return new SingleTopology(common);
  return new ClusterTopology({ ...common, hasSmallDatabase: strikes('postgres-full') });
}

/** Data of the servers is large and says nothing. */
function clean({ folder, keep }: EpisodeOptions, result: EpisodeResult): void {
  if (result.violations.length === 0 && !keep) return rmSync(folder, { recursive: true, force: true });
  writeFileSync(join(folder, 'report.json'), JSON.stringify(result, undefined, 2));
}

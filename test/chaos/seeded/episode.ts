import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pause } from '../../support/waiting.js';
import { expectShares, expectUsage, usageByTenant, usageWritten } from './accounts.js';
import {
  type DescriptorBase,
  descriptorBase,
  expectDescriptors,
  expectEnds,
  expectQuiet,
} from './aftermath.js';
import { CHATS, expectSlots } from './chats-operation.js';
import { ClusterTopology } from './cluster-topology.js';
import { type Fault } from './fault.js';
import { FAULTS } from './faults.js';
import { Ledger, type Violation } from './ledger.js';
import { type EpisodePlan, faultMs, isHidden, mostUnanswered, type PlannedFault } from './plan.js';
import { expectComputedOnce } from './queue-journal.js';
import { SingleTopology } from './single-topology.js';
import { type ProcessSpec } from './supervised-process.js';
import { ATTEMPT_MS } from './tenant-client.js';
import { type Topology } from './topology.js';
import { ALL_CALLERS, type OperationName, Traffic } from './traffic.js';

/** Traffic after the last fault. */
const AFTER_MS = 2000;
/**
 * The longest wait that a promise of the product allows besides the faults: leases,
 * retries and back-offs.
 */
const PATIENCE_MS = 120_000;
/** What ran when a fault struck is taken over by then. */
const LEASE_MS = 15_000;
/** Exit code after SIGTERM, as a shell reports it. */
const TOLD_TO_END = 143;

export interface EpisodeOptions {
  /** For the logs, a folder for each topology that was started. */
  readonly out: string;
  readonly settings: Readonly<Record<string, string>>;
  readonly operations: readonly OperationName[];
  /** Folder of a built release that runs until a rolling restart. */
  readonly from?: string | undefined;
  /** Leaves the logs of episodes that passed, too. */
  readonly keep: boolean;
  /** The next episode of the same topology finds the processes of one that passed. */
  readonly isShared: boolean;
}

export interface EpisodeResult {
  readonly plan: EpisodePlan;
  /** What was struck, when; milliseconds since the begin of the traffic. */
  readonly strikes: readonly string[];
  readonly violations: readonly Violation[];
  readonly settled: Readonly<Record<string, number>>;
  readonly attempts: number;
  readonly unanswered: number;
  readonly ms: number;
  readonly logs: string;
}

/** @param onResult called after each */
export async function runEpisodes(
  plans: readonly EpisodePlan[],
  options: EpisodeOptions,
  onResult: (result: EpisodeResult) => void,
): Promise<void> {
  let stage: Stage | undefined;
  process.once('SIGTERM', () => {
    stage?.kill();
    process.exit(TOLD_TO_END);
  });
  for (const [at, plan] of plans.entries()) {
    stage ??= new Stage(plan, plans, options);
    const isLast = !options.isShared || plans[at + 1]?.topology !== plan.topology;
    const result = await stage.episode(plan, isLast);
    if (isLast || result.violations.length > 0) {
      await stage.end(result);
      stage = undefined;
    }
    onResult(result);
  }
}

/** The processes of one or several episodes. */
class Stage {
  readonly #folder: string;
  readonly #topology: Topology;
  /** Of the episode that runs. */
  #ledger = new Ledger();
  #base: DescriptorBase | undefined;

  constructor(
    first: EpisodePlan,
    plans: readonly EpisodePlan[],
    private readonly options: EpisodeOptions,
  ) {
    this.#folder = join(options.out, `seed-${first.seed}-${first.topology}`);
    mkdirSync(this.#folder, { recursive: true });
    // PostgreSQL's own account passes through it.
    chmodSync(this.#folder, 0o755);
    const played = options.isShared ? plans : [first];
    const faults = new Set(played.flatMap(each => each.faults.map(({ name }) => name)));
    // What poison ends is started again.
    const onCrash = ({ kind }: ProcessSpec, how: string): void => {
      if (kind !== 'worker' || !faults.has('poison')) this.#ledger.note('crash', how);
    };
    const { settings, from } = options;
    const all = { folder: this.#folder, settings, from, faults, onCrash };
    this.#topology =
      first.topology === 'single' ? new SingleTopology(all) : new ClusterTopology(all);
  }

  async episode(plan: EpisodePlan, isLast: boolean): Promise<EpisodeResult> {
    const startMs = performance.now();
    const ledger = (this.#ledger = new Ledger());
    const strikes: string[] = [];
    try {
      if (!this.#base) await this.#topology.start();
      else if (isHidden(plan)) await usageWritten();
      const base = (this.#base ??= descriptorBase(this.#topology));
      const fire = { plan, ledger, strikes, base, operations: this.options.operations };
      await underFire(this.#topology, fire);
      if (isLast) await expectEnds(this.#topology, ledger, text => strikes.push(text));
    } catch (error) {
      ledger.note(
        'crash',
        `the episode broke off: ${error instanceof Error ? error.stack : String(error)}`,
      );
    }
    const { violations, settled, attempts, unanswered } = ledger;
    const ms = Math.round(performance.now() - startMs);
    const counts = { settled: Object.fromEntries(settled), attempts, unanswered, ms };
    return { plan, strikes, violations, ...counts, logs: this.#folder };
  }

  /** Its processes and disks would outlive this process. */
  kill(): void {
    this.#topology.kill();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /**
   * Data of servers is large and says nothing; logs of what passed say nothing either.
   */
  async end(result: EpisodeResult): Promise<void> {
    await this.#topology[Symbol.asyncDispose]();
    if (result.violations.length === 0 && !this.options.keep)
      return rmSync(this.#folder, { recursive: true, force: true });
    writeFileSync(join(this.#folder, 'report.json'), JSON.stringify(result, undefined, 2));
    for (const name of ['data', 'postgres', 'redis', 's3'])
      rmSync(join(this.#folder, name), { recursive: true, force: true });
  }
}

interface Fire {
  readonly plan: EpisodePlan;
  readonly ledger: Ledger;
  readonly strikes: string[];
  readonly base: DescriptorBase;
  readonly operations: readonly OperationName[];
}

async function underFire(
  topology: Topology,
  { plan, ledger, strikes, base, operations }: Fire,
): Promise<void> {
  const log = (text: string): void =>
    void strikes.push(`${(ledger.nowMs / 1000).toFixed(2)} s ${text}`);
  const usage = await usageByTenant(topology);
  ledger.begin();
  const limitMs = PATIENCE_MS + faultMs(plan);
  const traffic = new Traffic({
    topology,
    ledger,
    operations,
    seed: plan.seed,
    limitMs,
    isCalm: isHidden(plan),
  });
  const strike = async (planned: PlannedFault): Promise<void> => {
    await pause(planned.atMs);
    const fault: Fault = FAULTS.get(planned.name)!;
    const lasting = fault.isOfDatabase ? 'database' : 'silent';
    const over = ledger.interrupted(fault.silences ? 'any' : lasting);
    const recovered = ledger.interrupted(lasting);
    await fault.strike({ topology, ledger, fault: planned, log });
    await topology.untilReady();
    over();
    setTimeout(recovered, fault.lingersMs ?? LEASE_MS);
  };
  await Promise.all(plan.faults.map(strike));
  await pause(AFTER_MS);
  log('no new requests');
  await traffic.finish();
  ledger.noteStuck();
  log('all settled');
  const requests = ALL_CALLERS * (operations.includes('chats') ? CHATS : 1);
  ledger.boundUnanswered(mostUnanswered(plan, requests, ATTEMPT_MS));
  await expectQuiet(topology, ledger, log);
  await expectComputedOnce(topology, ledger);
  await expectSlots(topology, plan, ledger);
  await expectDescriptors(topology, base, ledger);
  log('quiet');
  if (!isHidden(plan)) return;
  const lostProcessor = plan.faults.some(({ name }) => /^(kill|freeze)-processor/.test(name));
  await expectUsage(topology, ledger, usage, lostProcessor);
  await expectShares(topology, ledger);
  log('accounts are right');
}

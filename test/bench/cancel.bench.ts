import { type GatewayProcess } from '../support/gateway-process.js';
import { pause, until } from '../support/waiting.js';
import { BenchCaller } from './support/bench-caller.js';
import { atMost, progress, type BenchResult } from './support/bench-result.js';
import { BenchRig } from './support/bench-rig.js';
import { distribution, type Distribution } from './support/percentiles.js';
import { seededRandom } from './support/seeded-random.js';
import { streamCancels } from './support/stream-cancels.js';

const GROUP = 8;
const SLOTS = 2 * GROUP;
const IN_FLIGHT_ROUNDS = 200;
const QUEUED_ROUNDS = 500;
const DISCONNECT_ROUNDS = 100;
const RANDOM_CANCELS = 10_000;
const RANDOM_CALLERS = 64;
/**
 * Longest a random caller waits before it cancels: several service times, so every
 * stage is met.
 */
const RANDOM_PATIENCE_MS = 60;
/** An engine call that ends only when cancelled; it looks for that every CHECK_MS. */
const ENDLESS_MS = 60_000;
const CHECK_MS = 10;

/** How fast does a cancel act, and does it ever lose a slot? */
export async function run(): Promise<BenchResult> {
  const endless = await measureEndless();
  const random = await randomCancels();
  const streams = await streamCancels();
  progress(`  live streams: ${JSON.stringify(streams)}`);
  return {
    results: { engineChecksEveryMs: CHECK_MS, ...endless, random, streams },
    goals: [
      atMost('in-flight cancel signal p95, ms', endless.inFlight.signalMs.p95, 50),
      ...Object.entries(streams).map(([engine, { reusableMs }]) =>
        atMost(
          `live stream of ${engine}, cancel() to its place taken again p95, ms`,
          reusableMs.p95,
          50,
        ),
      ),
      atMost(`slots leaked after ${RANDOM_CANCELS} random cancels`, random.slotsLeaked, 0),
      atMost('requests without a settlement', random.unsettled, 0),
    ],
  };
}

interface CancelTimes {
  /**
   * Cancel sent to cancel answered: in flight, the worker has acknowledged by then (HTTP
   * both ways included).
   */
  readonly signalMs: Distribution;
  /** Cancel sent to the cancelled caller's own 499. */
  readonly callerMs: Distribution;
}

async function measureEndless(): Promise<{
  inFlight: CancelTimes;
  queued: CancelTimes;
  disconnectToSlotMs: Distribution;
}> {
  await using rig = await BenchRig.start({
    cost: { groupMs: ENDLESS_MS, checkEveryMs: CHECK_MS, maxBatch: GROUP },
    settings: { 'inference.timeout_min_ms': 10 * ENDLESS_MS },
  });
  const inFlight = await cancelInFlight(rig.gateway);
  progress(`  in flight: ${JSON.stringify(inFlight)}`);
  const disconnectToSlotMs = await disconnectInFlight(rig.gateway);
  progress(`  disconnect to slot: ${JSON.stringify(disconnectToSlotMs)}`);
  const queued = await cancelQueued(rig.gateway);
  progress(`  queued: ${JSON.stringify(queued)}`);
  return { inFlight, queued, disconnectToSlotMs };
}

async function cancelInFlight(gateway: GatewayProcess): Promise<CancelTimes> {
  const caller = new BenchCaller(gateway.port);
  const times = { signalMs: [] as number[], callerMs: [] as number[] };
  for (let round = 0; round < IN_FLIGHT_ROUNDS; round++) {
    void caller.transcribe(`in-flight-${round}`, 'realtime');
    await slotsInUse(gateway, 1);
    const { signalMs, callerMs } = await caller.cancel();
    times.signalMs.push(signalMs);
    times.callerMs.push(callerMs);
    await slotsInUse(gateway, 0);
  }
  caller.close();
  return {
    signalMs: distribution(times.signalMs),
    callerMs: distribution(times.callerMs),
  };
}

/**
 * From the broken connection until the slot can be leased again; resolution: one
 * scrape of `/metrics`.
 */
async function disconnectInFlight(gateway: GatewayProcess): Promise<Distribution> {
  const series: number[] = [];
  for (let round = 0; round < DISCONNECT_ROUNDS; round++) {
    const caller = new BenchCaller(gateway.port);
    void caller.transcribe(`disconnect-${round}`, 'realtime');
    await slotsInUse(gateway, 1);
    const startMs = performance.now();
    caller.close();
    await slotsInUse(gateway, 0);
    series.push(performance.now() - startMs);
  }
  return distribution(series);
}

async function cancelQueued(gateway: GatewayProcess): Promise<CancelTimes> {
  const blockers = startCallers(gateway, SLOTS, 'blocker');
  await slotsInUse(gateway, SLOTS);
  const waiting = startCallers(gateway, QUEUED_ROUNDS, 'queued');
  await until(async () => (await gateway.scrape()).sum('scheduler_queue_depth') === QUEUED_ROUNDS);
  const times = { signalMs: [] as number[], callerMs: [] as number[] };
  for (const caller of waiting) {
    const { signalMs, callerMs } = await caller.cancel();
    times.signalMs.push(signalMs);
    times.callerMs.push(callerMs);
  }
  for (const caller of [...waiting, ...blockers]) caller.close();
  await slotsInUse(gateway, 0);
  return {
    signalMs: distribution(times.signalMs),
    callerMs: distribution(times.callerMs),
  };
}

function startCallers(gateway: GatewayProcess, count: number, name: string): BenchCaller[] {
  return Array.from({ length: count }, (_, index) => {
    const caller = new BenchCaller(gateway.port);
    void caller.transcribe(`${name}-${index}`, 'batch');
    return caller;
  });
}

interface RandomCancels {
  readonly cancelled: number;
  readonly statuses: Readonly<Record<string, number>>;
  readonly slotsLeaked: number;
  /** Accepted minus settled once everything is quiet. */
  readonly unsettled: number;
  readonly perS: number;
}

/**
 * Cancels at random instants, half by the endpoint and half by leaving, across queue,
 * wire, preparation and device.
 */
async function randomCancels(): Promise<RandomCancels> {
  await using rig = await BenchRig.start({
    cost: { groupMs: 10, prepMs: 2, maxBatch: GROUP },
  });
  const statuses: Record<string, number> = {};
  const startMs = performance.now();
  let left = RANDOM_CANCELS;
  const budget: CancelBudget = {
    take: () => (left > 0 ? left-- : undefined),
    giveBack: () => left++,
  };
  await Promise.all(
    Array.from({ length: RANDOM_CALLERS }, (_, caller) =>
      cancelAtRandom(rig.gateway, caller, budget, statuses),
    ),
  );
  const perS = (RANDOM_CANCELS / (performance.now() - startMs)) * 1000;
  await until(async () => (await rig.gateway.scrape()).sum('switchyard_requests_running') === 0);
  await until(
    async () => (await rig.gateway.scrape()).sum('switchyard_worker_slots_in_use') === 0,
    { limitMs: 5000 },
  );
  const settled = (await rig.gateway.scrape()).sum('scheduler_requests_total');
  const result = {
    cancelled: (await rig.gateway.scrape()).sum('scheduler_requests_total', 'status="cancelled"'),
    statuses,
    slotsLeaked: (await rig.gateway.scrape()).sum('switchyard_worker_slots_in_use'),
    unsettled: (await rig.gateway.scrape()).sum('switchyard_requests_accepted_total') - settled,
    perS: Math.round(perS),
  };
  progress(`  random: ${JSON.stringify(result)}`);
  return result;
}

/**
 * Cancels still to be made. One that came after the answer was none, and is given back.
 */
interface CancelBudget {
  take(): number | undefined;
  giveBack(): void;
}

async function cancelAtRandom(
  gateway: GatewayProcess,
  seed: number,
  budget: CancelBudget,
  statuses: Record<string, number>,
): Promise<void> {
  const random = seededRandom(seed + 1);
  const caller = new BenchCaller(gateway.port);
  for (let round = 0; budget.take() !== undefined; round++) {
    const answered = caller.transcribe(
      `random-${seed}-${round}`,
      random() < 0.2 ? 'realtime' : 'batch',
    );
    await pause(random() * RANDOM_PATIENCE_MS);
    if (random() < 0.5) caller.leave();
    else await caller.cancel();
    const { status } = await answered;
    statuses[status] = (statuses[status] ?? 0) + 1;
    if (status === 200) budget.giveBack();
  }
  caller.close();
}

const slotsInUse = (gateway: GatewayProcess, wanted: number): Promise<void> =>
  until(async () => (await gateway.scrape()).sum('switchyard_worker_slots_in_use') === wanted, {
    ...{ everyMs: 0, what: `slots in use ${wanted}: one leaked, or was never taken` },
  });

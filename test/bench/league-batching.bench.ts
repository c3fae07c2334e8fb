import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pause } from '../support/waiting.js';
import { type Contestant, PEERS, switchyard } from './league/batching-contestants.js';
import {
  besideQueue,
  closed,
  hangUp,
  killed,
  type Loads,
  open,
  overload,
  type Turn,
} from './league/batching-scenes.js';
import { type Kill, markdownTable } from './league/batching-table.js';
import { cpuMsOf, rssMibOf, signalAll, startPeers } from './league/peer-process.js';
import { mapped, ratio, summary, type TurnTable } from './league/turn-table.js';
import {
  atLeast,
  atMost,
  type BenchGoal,
  type BenchResult,
  progress,
} from './support/bench-result.js';
import { LoadProcess } from './support/load-process.js';

const ROUNDS = Number(process.env.LEAGUE_ROUNDS ?? 3);
const DURATION_MS = Number(process.env.LEAGUE_MS ?? 1500);
/**
 * Thousands of requests, until V8 has compiled what they need; few at once, as BentoML's
 * window remembers waits.
 */
const WARM = [
  { model: 'free', callers: 16, durationMs: 5000, minAnswers: 3000 },
  { model: 'fixed', callers: 8, durationMs: 2000 },
] as const;
const IDLE_MS = 5000;
/**
 * Of a core, at rest: a contestant that takes more is stopped while others
 * have their turn.
 */
const RESTLESS = 0.02;
const AWAKE_MS = 300;

interface Scene {
  readonly name: string;
  turn(one: Contestant, loads: Loads): Promise<Turn>;
  /**
   * Only contestants that know urgent requests apart have a turn of their own with them.
   */
  readonly oursOnly?: boolean;
}

const closedScene = (
  name: string,
  callers: number,
  request: Parameters<Contestant['request']>[0] = {},
): Scene => ({
  name: `${name}, c=${callers}`,
  turn: (one, loads) => closed(one, { ...request, callers, durationMs: DURATION_MS }, loads),
});

const SCENES: readonly Scene[] = [
  ...[1, 8, 16, 64, 512].map(callers => closedScene('20 ms', callers)),
  ...[1, 8].map(callers => ({
    ...closedScene('20 ms, REALTIME', callers, { kind: 'urgent' }),
    oursOnly: true,
  })),
  closedScene('0 ms', 64, { model: 'free' }),
  ...[8, 64].map(callers => closedScene('12 + n ms', callers, { model: 'linear' })),
  ...[0.5, 0.9].map(share => ({
    name: `load ${share * 100} %`,
    turn: (one: Contestant, loads: Loads) =>
      open(one, { share, durationMs: 2 * DURATION_MS }, loads),
  })),
  {
    name: 'urgent beside 1,000 queued',
    turn: (one, loads) => besideQueue(one, 2 * DURATION_MS, loads),
  },
  { name: '5 x overload', turn: (one, loads) => overload(one, DURATION_MS, loads) },
  { name: 'after 256 hung up', turn: one => hangUp(one) },
];

/**
 * How do peers that group requests use the same scripted device? In turns, one
 * client, one machine.
 */
export async function run(): Promise<BenchResult> {
  const folder = await mkdtemp(join(tmpdir(), 'sy-league-')); // short: a socket's path has 107 characters
  await using stack = new AsyncDisposableStack();
  const ours = stack.use(await switchyard(folder));
  const { peers, missing } = await startPeers(
    mapped(PEERS, start => () => start(folder)),
    stack,
  );
  const contestants = [ours, ...peers];
  const loads = {
    main: stack.use(new LoadProcess()),
    urgent: stack.use(new LoadProcess()),
  };
  for (const one of contestants) for (const warm of WARM) await closed(one, warm, loads);
  const idle = await atRest(contestants);
  const restless = contestants.filter(({ name }) => idle[name]!.cpuShare! > RESTLESS);
  const table = await measured(contestants, { loads, restless });
  for (const one of restless) signalAll(one, 'SIGCONT');
  const kills = await killAll(contestants);
  const medians = summary(table);
  progress(`\n${markdownTable(medians, kills)}\n`);
  const versions = Object.fromEntries(contestants.map(({ name, version }) => [name, version]));
  await stack.disposeAsync();
  if (process.env.BENCH_KEEP === undefined) await rm(folder, { recursive: true, force: true });
  const size = { rounds: ROUNDS, durationMs: DURATION_MS };
  return {
    results: { versions, missing, ...size, idle, table: medians, kills },
    goals: goals(table),
  };
}

/** Last, because not all are there again afterwards. */
async function killAll(contestants: readonly Contestant[]): Promise<Record<string, Kill>> {
  const kills: [string, Awaited<ReturnType<typeof killed>>][] = [];
  for (const one of contestants) {
    kills.push([one.name, await killed(one)]);
    progress(
      `  ${one.name} after kill -9: serves again after ${kills.at(-1)![1].servesAgainMs} ms`,
    );
  }
  const counted = kills.map(
    async ([name, kill]) => [name, { ...kill, lost: await kill.lost }] as const,
  );
  return Object.fromEntries(await Promise.all(counted));
}

/** What those who have no turn take from the one who has. */
async function atRest(contestants: readonly Contestant[]): Promise<Record<string, Turn>> {
  await pause(IDLE_MS);
  const beforeMs = contestants.map(cpuMsOf);
  await pause(IDLE_MS);
  const entries = contestants.map((one, at) => {
    const cpuShare = (cpuMsOf(one) - beforeMs[at]!) / IDLE_MS;
    return [one.name, { cpuShare, rssMib: rssMibOf(one) }] as const;
  });
  return Object.fromEntries(entries);
}

interface Turns {
  readonly loads: Loads;
  readonly restless: readonly Contestant[];
}

/** In turns within each round, so that a slow minute of the machine hits all. */
async function measured(
  contestants: readonly Contestant[],
  { loads, restless }: Turns,
): Promise<TurnTable> {
  const table: TurnTable = {};
  for (const one of restless) signalAll(one, 'SIGSTOP');
  for (const scene of SCENES) {
    const rows: Record<string, Turn[]> = (table[scene.name] = {});
    const present = scene.oursOnly ? contestants.slice(0, 1) : contestants;
    for (let round = 0; round < ROUNDS; round++) {
      for (const one of present) {
        if (restless.includes(one)) await awake(one);
        (rows[one.name] ??= []).push(await scene.turn(one, loads));
        if (restless.includes(one)) signalAll(one, 'SIGSTOP');
      }
    }
    progress(`  ${scene.name}: ${JSON.stringify(summary(table)[scene.name])}`);
  }
  return table;
}

async function awake(one: Contestant): Promise<void> {
  signalAll(one, 'SIGCONT');
  await pause(AWAKE_MS);
}

/** Where both reach the ideal, one group more or less in a turn is 1 %. */
const EQUAL = 0.99;

/** Of one that serves nobody in time: nothing is divided by 0. */
const LEAST_GOODPUT = 0.01;

/** Ours beside each peer, round by round. */
function goals(table: TurnTable): BenchGoal[] {
  const beside = (
    scene: string,
    make: (ours: Turn[], theirs: Turn[], name: string) => BenchGoal,
  ): BenchGoal[] => {
    const { switchyard: ours = [], ...peers } = table[scene] ?? {};
    return Object.entries(peers).map(([peer, theirs]) =>
      make(ours, theirs, `${scene}: %s / ${peer}`),
    );
  };
  const least = (scene: string, figure: string, aim: number) =>
    beside(scene, (ours, theirs, name) =>
      atLeast(name.replace('%s', figure), ratio(ours, theirs, figure), aim),
    );
  const most = (scene: string, figure: string) =>
    beside(scene, (ours, theirs, name) =>
      atMost(name.replace('%s', figure), ratio(ours, theirs, figure), 1),
    );
  return [
    ...[8, 16, 64, 512].flatMap(callers => least(`20 ms, c=${callers}`, 'fraction', EQUAL)),
    ...[50, 90].flatMap(percent => most(`load ${percent} %`, 'p99Ms')),
    ...most('urgent beside 1,000 queued', 'p99Ms'),
    ...beside('5 x overload', (ours, theirs, name) => {
      const floored: Turn[] = theirs.map(turn => ({
        ...turn,
        goodput: Math.max(LEAST_GOODPUT, turn.goodput!),
      }));
      return atLeast(name.replace('%s', 'goodput'), ratio<string>(ours, floored, 'goodput'), 1);
    }),
    ...most('after 256 hung up', 'answeredMs'),
  ];
}

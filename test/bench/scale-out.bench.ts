import { ChatCluster, SLOTS } from '../support/chat-cluster.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { pause } from '../support/waiting.js';
import { atLeast, atMost, type BenchResult, progress } from './support/bench-result.js';
import { BenchWorker } from './support/bench-worker.js';
import { ChatLoad, shareOf, tenants, WORKERS, workersModel } from './support/chat-load.js';
import { distribution, median, rounded } from './support/percentiles.js';
import { perRequest, type RedisCost, redisCost } from './support/redis-cost.js';

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 3);
const SECONDS = Number(process.env.BENCH_SECONDS ?? 60);
const MANY = 4;
const LONE_CHATS = 100;
const SETTLE_MS = 8000;
/** Seconds from the start of the load: two gateways are killed, and it ends. */
const KILLS_S = [8, 16];
const KILLED_S = 26;
const EQUAL = { a: 1, b: 1 };
const UNEQUAL = { a: 3, b: 1 };

type Weights = typeof EQUAL;

/** Two models, two tenants, both classes, whole answers and streams. */
async function shared(gateways: number, weights: Weights, seed: number) {
  const folder = temporaryFolder();
  const workers = await Promise.all(
    Array.from({ length: WORKERS }, () => BenchWorker.start(workersModel([]), folder)),
  );
  const { file, all } = tenants(folder, weights);
  await using cluster = await ChatCluster.start(gateways, {
    settings: { 'auth.keys_file': file },
    models: [workersModel(workers.map(({ address }) => address))],
  });
  const load = new ChatLoad(cluster, seed);
  load.begin(all, ['chat', 'words']);
  await pause(SETTLE_MS);
  const fromMs = performance.now();
  const before = await redisCost(cluster.redis.url);
  const began = cluster.server.chats.length + load.words.length;
  await pause(SECONDS * 1000);
  const after = await redisCost(cluster.redis.url);
  const [toMs, ended] = [performance.now(), cluster.server.chats.length + load.words.length];
  await load.end();
  for (const worker of workers) await worker[Symbol.asyncDispose]();
  const span = [fromMs, toMs] as const;
  const idle = { perS: { scripts: 0, commands: 0, cpuMs: 0 }, seconds: 0 };
  const result = {
    shareA: { chat: shareOf('a', load.chats, span), words: shareOf('a', load.words, span) },
    most: cluster.server.most,
    average: cluster.server.average(fromMs, toMs),
    chatsPerS: (ended - began) / ((toMs - fromMs) / 1000),
    redis: perRequest([before, after], ended - began, idle),
    refused: load.refused.length,
    twice: twice(cluster),
    waitsMs: load.urgentWaitsMs,
  };
  const { waitsMs, ...shown } = result;
  progress(`  ${gateways} gateways: ${JSON.stringify({ ...shown, wait: distribution(waitsMs) })}`);
  return result;
}

/** Chats that came to the server again. */
function twice({ server }: ChatCluster): number {
  return server.chats.length - new Set(server.chats.map(({ said }) => said)).size;
}

/** The slots of four gateways, of which two are killed: by gateway, every quarter of a second. */
async function killed() {
  const folder = temporaryFolder();
  const { file, all } = tenants(folder, EQUAL);
  await using cluster = await ChatCluster.start(MANY, { settings: { 'auth.keys_file': file } });
  const load = new ChatLoad(cluster, 7);
  const startMs = performance.now();
  load.begin(all, ['chat']);
  for (const [nth, second] of KILLS_S.entries()) {
    await pause(startMs + second * 1000 - performance.now());
    // The first of the rest keeps its place in the list.
    await cluster.kill(cluster.gateways[MANY - 1 - nth]!);
  }
  await pause(startMs + KILLED_S * 1000 - performance.now());
  await load.end();
  const times = Array.from({ length: KILLED_S * 4 }, (_, at) => at / 4);
  const slots = Array.from({ length: MANY }, (_, gateway) =>
    times.map(second => {
      const atMs = startMs + second * 1000;
      const own = cluster.server.chats.filter(({ said }) => said.includes(` g${gateway} `));
      return own.filter(({ fromMs, endMs }) => fromMs <= atMs && atMs < endMs).length;
    }),
  );
  return { times, killsS: KILLS_S, slots, most: cluster.server.most, twice: twice(cluster) };
}

/** Milliseconds of a chat that nothing waits beside, and what Redis does for it. */
async function lone() {
  await using alone = await ChatCluster.start(1, {
    holdMs: 0,
    settings: { 'queue.driver': 'embedded' },
  });
  await using redis = await ChatCluster.start(1, { holdMs: 0 });
  const rounds = { embedded: [] as number[], redis: [] as number[] };
  const costs: RedisCost[] = [];
  const idle = { perS: await idleCost(redis), seconds: 0 };
  for (let round = 0; round <= 2 * ROUNDS; round++) {
    const embedded = await p50(alone);
    const [before, fromMs] = [await redisCost(redis.redis.url), performance.now()];
    const shared = await p50(redis);
    const seconds = (performance.now() - fromMs) / 1000;
    const after = await redisCost(redis.redis.url);
    if (round === 0) continue;
    rounds.embedded.push(embedded);
    rounds.redis.push(shared);
    costs.push(perRequest([before, after], LONE_CHATS, { ...idle, seconds }));
  }
  const of = (figure: keyof RedisCost): number => rounded(median(costs.map(one => one[figure])));
  return {
    embeddedMs: median(rounds.embedded),
    redisMs: median(rounds.redis),
    addedMs: rounded(median(rounds.redis.map((ms, at) => ms - rounds.embedded[at]!))),
    redis: { scripts: of('scripts'), commands: of('commands'), cpuMs: of('cpuMs') },
    idlePerS: idle.perS,
  };
}

async function p50(cluster: ChatCluster): Promise<number> {
  const tookMs: number[] = [];
  for (let nth = 0; nth < LONE_CHATS; nth++)
    tookMs.push((await cluster.chat(cluster.gateways[0]!, `lone ${nth}`)).tookMs);
  return median(tookMs);
}

/** In a second in which nobody asks. */
async function idleCost({ redis }: ChatCluster): Promise<RedisCost> {
  const before = await redisCost(redis.url);
  await pause(10_000);
  const none = { perS: { scripts: 0, commands: 0, cpuMs: 0 }, seconds: 0 };
  return perRequest([before, await redisCost(redis.url)], 10, none);
}

const jain = (share: number): number => 1 / (2 * (share ** 2 + (1 - share) ** 2));

/**
 * Text at one and at four gateways with one Redis: do they send no more than a server's slots
 * and leave none free, share as one does, and let nobody urgent wait longer?
 */
export async function run(): Promise<BenchResult> {
  const alone = await lone();
  progress(`  a lone chat: ${JSON.stringify(alone)}`);
  const rounds = { one: [] as Shared[], many: [] as Shared[], weighted: [] as Shared[] };
  for (let round = 1; round <= ROUNDS; round++) {
    rounds.one.push(await shared(1, EQUAL, round));
    rounds.many.push(await shared(MANY, EQUAL, round));
    rounds.weighted.push(await shared(MANY, UNEQUAL, round));
  }
  const kills = await killed();
  const results = {
    ...{ slots: SLOTS, seconds: SECONDS, rounds: ROUNDS, lone: alone, kills },
    ...{ one: summary(rounds.one), many: summary(rounds.many) },
    weighted: summary(rounds.weighted),
  };
  return { results, goals: goals(results) };
}

type Shared = Awaited<ReturnType<typeof shared>>;
type Summary = ReturnType<typeof summary>;

interface Results {
  readonly lone: { readonly addedMs: number };
  readonly one: Summary;
  readonly many: Summary;
  readonly weighted: Summary;
  readonly kills: { readonly most: number; readonly twice: number };
}

function summary(all: readonly Shared[]) {
  const middle = (of: (one: Shared) => number): number => rounded(median(all.map(of)));
  const worst = (of: (one: Shared) => number): number => rounded(Math.max(...all.map(of)));
  return {
    shareA: { chat: middle(one => one.shareA.chat), words: middle(one => one.shareA.words) },
    average: middle(one => one.average),
    chatsPerS: middle(one => one.chatsPerS),
    redis: {
      scripts: middle(one => one.redis.scripts),
      commands: middle(one => one.redis.commands),
      cpuMs: middle(one => one.redis.cpuMs),
    },
    ...{ most: worst(one => one.most), twice: worst(one => one.twice) },
    refused: worst(one => one.refused),
    urgentWaitMs: distribution(all.flatMap(({ waitsMs }) => waitsMs)),
  };
}

function goals({ lone: { addedMs }, one, many, weighted, kills }: Results) {
  const models = ['chat', 'words'] as const;
  const all = [one, many, weighted, kills];
  return [
    atMost('at the server at once', Math.max(...all.map(({ most }) => most)), SLOTS),
    atLeast('at the server on average, 4 gateways', many.average, 7.5),
    atMost('sent twice', Math.max(...all.map(side => side.twice)), 0),
    ...models.flatMap(model => [
      atLeast(`Jain's index of equal tenants, ${model}`, jain(many.shareA[model]), 0.99),
      atMost(`equal tenants, off by, ${model}`, Math.abs(many.shareA[model] / 0.5 - 1), 0.02),
      atMost(`weights 3:1, off by, ${model}`, Math.abs(weighted.shareA[model] / 0.75 - 1), 0.05),
    ]),
    atMost('REALTIME wait p99, of one gateway', many.urgentWaitMs.p99 / one.urgentWaitMs.p99, 1.1),
    atMost('p50 of a lone chat, added ms', addedMs, 3),
  ];
}

import { NodeProcess } from '../support/node-process.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { chatRequest, type Contestant, direct, PEERS, switchyard } from './league/contestants.js';
import { cpuMsOf, isAnswered, rssMibOf, startPeers } from './league/peer-process.js';
import { mapped, quartilesOf, ratio, summary, type TurnTable } from './league/turn-table.js';
import {
  atLeast,
  atMost,
  type BenchGoal,
  type BenchResult,
  progress,
} from './support/bench-result.js';
import { type LoadReport } from './support/load-job.js';
import { LoadProcess } from './support/load-process.js';
import { siblingModule } from './support/sibling-module.js';

const ROUNDS = Number(process.env.LEAGUE_ROUNDS ?? 5);
const DURATION_MS = Number(process.env.LEAGUE_MS ?? 3000);
/**
 * Before all turns with whole, and with streamed chats: some 20,000, after which V8 has
 * compiled what it will compile.
 */
const FIRST_WARMUP_MS = 20_000;
const WARMUP_MS = 4000;
/** A clone of another commit, with its build, is one more contestant. */
const BEFORE = process.env.LEAGUE_BEFORE;
const CALLERS = [1, 8, 64];
/** Of a turn: with fewer it lasts longer, so that LiteLLM at 64 callers has a p99. */
const minAnswers = (callers: number): number => Math.max(50, 3 * callers);

/** One turn. `cpuMs`: CPU time of all processes of the contestant, per request. */
type Turn = Record<
  'perS' | 'p50Ms' | 'p99Ms' | 'firstP50Ms' | 'cpuMs' | 'rssMib' | 'generatorCpu',
  number
>;
type Table = TurnTable<Turn>;

interface Scene {
  readonly name: string;
  readonly stream: boolean;
  readonly callers: number;
}

const SCENES: readonly Scene[] = [false, true].flatMap(stream =>
  CALLERS.map(callers => ({
    name: `${stream ? 'streamed' : 'whole'}, c=${callers}`,
    stream,
    callers,
  })),
);

/**
 * What does a chat pay for passing through, here and in what else a user could take? All
 * to one no-op upstream.
 */
export async function run(): Promise<BenchResult> {
  const folder = temporaryFolder();
  await using stack = new AsyncDisposableStack();
  const script = siblingModule(import.meta.url, './league/upstream');
  const upstream = stack.use(new NodeProcess({ name: 'upstream', script, folder }));
  const upstreamPort = await upstream.port();
  const { contestants, missing } = await startAll({ folder, upstreamPort }, stack);
  const idleMib = Object.fromEntries(contestants.map(one => [one.name, rssMibOf(one)]));
  const load = stack.use(new LoadProcess());
  const table = await measured(contestants, load);
  const versions = Object.fromEntries(contestants.map(({ name, version }) => [name, version]));
  return {
    results: { versions, missing, idleMib, rounds: ROUNDS, table: summary(table) },
    goals: goals(table),
  };
}

async function startAll(
  place: { folder: string; upstreamPort: number },
  stack: AsyncDisposableStack,
) {
  const ours = [direct(place), stack.use(await switchyard(place))];
  if (BEFORE !== undefined) ours.push(stack.use(await switchyard(place, BEFORE)));
  const { peers, missing } = await startPeers(
    mapped(PEERS, start => () => start(place)),
    stack,
  );
  return { contestants: [...ours, ...peers], missing };
}

/** In turns within each round, so that a slow minute of the machine hits all. */
async function measured(contestants: readonly Contestant[], load: LoadProcess): Promise<Table> {
  const table: Table = {};
  for (const scene of SCENES) {
    const rows: Record<string, Turn[]> = (table[scene.name] = {});
    const present = await able(contestants, scene);
    // With many callers also before turns with one: all are compiled code then.
    const warm = { ...scene, callers: Math.max(...CALLERS) };
    const durationMs = scene.callers === CALLERS[0] ? FIRST_WARMUP_MS : WARMUP_MS;
    for (const one of present) await exchange(one, warm, { load, durationMs });
    for (let round = 0; round < ROUNDS; round++)
      for (const one of present) (rows[one.name] ??= []).push(await measure(one, scene, load));
    progress(`  ${scene.name}: ${JSON.stringify(summary(table)[scene.name])}`);
  }
  return table;
}

/** Portkey 1.15.2 on Node 24, for one, answers every stream with 500. */
async function able(
  contestants: readonly Contestant[],
  { name, stream }: Scene,
): Promise<readonly Contestant[]> {
  const can = await Promise.all(
    contestants.map(one => isAnswered(one.port, chatRequest(one, stream))),
  );
  for (const [at, one] of contestants.entries())
    if (!can[at]) progress(`  ${name}: no answer of ${one.name}`);
  return contestants.filter((_, at) => can[at]);
}

function exchange(
  contestant: Contestant,
  { stream, callers }: Scene,
  { load, durationMs }: { readonly load: LoadProcess; readonly durationMs: number },
): Promise<LoadReport> {
  const arrivals = { kind: 'closed', callers } as const;
  const request = chatRequest(contestant, stream);
  const { port } = contestant;
  return load.run({
    port,
    request,
    arrivals,
    durationMs,
    warmupMs: 0,
    minAnswers: minAnswers(callers),
  });
}

async function measure(contestant: Contestant, scene: Scene, load: LoadProcess): Promise<Turn> {
  const beforeMs = cpuMsOf(contestant);
  const report = await exchange(contestant, scene, { load, durationMs: DURATION_MS });
  return {
    perS: report.requestsPerS,
    p50Ms: report.latencyMs.p50,
    p99Ms: report.latencyMs.p99,
    firstP50Ms: report.firstMs.p50,
    cpuMs: (cpuMsOf(contestant) - beforeMs) / report.answers,
    rssMib: rssMibOf(contestant),
    generatorCpu: report.generatorCpu,
  };
}

/**
 * Round by round: beside Portkey, the other gateway in Node, and the commit before, if
 * there is one.
 */
function goals(table: Table): BenchGoal[] {
  return SCENES.flatMap(({ name, stream }) => {
    const { switchyard: ours = [], portkey = [], before = [] } = table[name] ?? {};
    const rate = (theirs: readonly Turn[], than: string): BenchGoal[] =>
      theirs.length > 0
        ? [atLeast(`${name}: requests/s / ${than}`, ratio(ours, theirs, 'perS'), 1)]
        : [];
    const rates = [...rate(before, 'before'), ...rate(portkey, 'Portkey')];
    if (stream || portkey.length === 0) return rates;
    return [
      ...rates,
      atMost(`${name}: p99 / Portkey`, ratio(ours, portkey, 'p99Ms'), 1),
      atMost(`${name}: CPU per request / Portkey`, ratio(ours, portkey, 'cpuMs'), 1),
      atMost(
        `${name}: MiB more than Portkey`,
        quartilesOf(ours).rssMib!.p50 - quartilesOf(portkey).rssMib!.p50,
        50,
      ),
    ];
  });
}

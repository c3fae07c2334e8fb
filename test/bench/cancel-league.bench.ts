import { fetchRealModels, type RealModels } from '../support/real-models.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { pause } from '../support/waiting.js';
import { abandonedRoutes, type Route } from './league/abandoned-routes.js';
import {
  type AbandonedServer,
  fasterWhisper,
  litellmBefore,
  llamaCpp,
  switchyard,
} from './league/abandoned-servers.js';
import { atMost, progress, type BenchResult } from './support/bench-result.js';
import { CpuMeter, devicesOf, longestIdleWork, workAfter } from './support/cpu-activity.js';
import { distribution, type Distribution, rounded } from './support/percentiles.js';
import { seededRandom } from './support/seeded-random.js';

/** Over all routes of a server. */
const ABANDONS = Number(process.env.LEAGUE_ABANDONS ?? 1000);
/** Separated by semicolons: some names have commas. */
const ONLY = process.env.LEAGUE_ROUTES?.split(';');
/** Names of servers to leave out, such as `llama.cpp,litellm`. */
const WITHOUT = (process.env.LEAGUE_WITHOUT ?? '').split(',');
const GIVE_UP_MS = 10_000;
/** So long a device without requests is watched: that is five probes. */
const WATCH_MS = 5000;
/** Times the longest piece of work that was seen then: the next probe may take longer. */
const IDLE_WORK = 2;
/** Of a try of a route, before it is measured. */
const ANSWER_MS = 120_000;

interface RouteResult {
  /** From the moment at which the caller leaves until the device is idle. */
  readonly idleMs: Distribution;
  /** CPU that the device used within them: other work on the machine does not prolong it. */
  readonly cpuMs: Distribution;
  /** CPU of the device after the caller had left, as a share of all its CPU. */
  readonly wasted: number;
}

type Routes = Readonly<Record<string, RouteResult | string>>;

/**
 * How soon does the device stop when nobody listens any more, on each route, and how much
 * of its time is wasted? Published models, one caller, who hangs up in the middle. Beside
 * it other servers with the same models, as far as they install.
 */
export async function run(): Promise<BenchResult> {
  const { real, name, present } = await fetchRealModels();
  if (!present) throw new Error(`This bench needs ${name}`);
  const folder = temporaryFolder();
  const servers: Readonly<Record<string, () => Promise<AbandonedServer>>> = {
    switchyard: () => switchyard(real),
    'llama.cpp': () => llamaCpp(real, folder),
    'faster-whisper': () => fasterWhisper(real, folder),
    litellm: async () => litellmBefore(await llamaCpp(real, folder), folder),
    'litellm-whisper': async () => litellmBefore(await fasterWhisper(real, folder), folder),
  };
  const results: Record<string, object | string> = {};
  for (const [server, start] of Object.entries(servers))
    if (!WITHOUT.includes(server)) results[server] = await measured(start, real).catch(messageOf);
  const own = results.switchyard;
  return { results: { abandons: ABANDONS, ...results }, goals: own ? goalsOf(own) : [] };
}

const messageOf = (error: Error): string => error.message.slice(0, 500);

async function measured(start: () => Promise<AbandonedServer>, real: RealModels) {
  await using server = await start();
  progress(`  ${server.name} ${server.version}`);
  const routes = Object.entries(await abandonedRoutes(real, server.models)).filter(
    ([route, { device }]) => server.url(device) !== undefined && (ONLY?.includes(route) ?? true),
  );
  const random = seededRandom(1);
  const found: Record<string, RouteResult | string> = {};
  for (const [name, route] of routes) {
    const count = Math.ceil(ABANDONS / routes.length);
    found[name] = await abandon(server, route, { count, random }).catch(messageOf);
    progress(`    ${name}: ${JSON.stringify(found[name])}`);
  }
  return { version: server.version, routes: found as Routes };
}

function goalsOf(own: object | string): BenchResult['goals'] {
  const { routes = {} } = own as { routes?: Routes };
  const all = Object.values(routes).filter(route => typeof route !== 'string');
  return [
    atMost(
      'device idle after its caller left, worst route, p95 ms',
      Math.max(...all.map(({ idleMs }) => idleMs.p95)),
      50,
    ),
    atMost(
      'device time wasted, mean of the routes',
      all.reduce((sum, { wasted }) => sum + wasted, 0) / all.length,
      0.005,
    ),
  ];
}

async function abandon(
  server: AbandonedServer,
  { device, call }: Route,
  { count, random }: { readonly count: number; readonly random: () => number },
): Promise<RouteResult> {
  const url = server.url(device)!;
  await call(url, AbortSignal.timeout(ANSWER_MS));
  const startMs = performance.now();
  await call(url, AbortSignal.timeout(ANSWER_MS));
  const wholeMs = performance.now() - startMs;
  progress(`    a whole one takes ${Math.round(wholeMs)} ms`);
  const meter = new CpuMeter(devicesOf(server.pid(device)));
  const idleWorkMs = IDLE_WORK * (await longestIdleWork(meter, WATCH_MS));
  const idleMs: number[] = [];
  const cpuMs: number[] = [];
  let usedMs = 0;
  for (let at = 0; at < count; at++) {
    const beforeMs = meter.ms;
    const caller = new AbortController();
    const answered = call(url, caller.signal).then(
      () => true,
      () => false,
    );
    await pause(wholeMs * (0.1 + 0.7 * random()));
    caller.abort();
    const after = await workAfter(meter, GIVE_UP_MS, idleWorkMs);
    // One that was quicker than expected says nothing.
    if (await answered) continue;
    idleMs.push(after.idleMs);
    cpuMs.push(after.cpuMs);
    usedMs += meter.ms - beforeMs;
  }
  const wastedMs = cpuMs.reduce((sum, ms) => sum + ms, 0);
  return {
    idleMs: distribution(idleMs),
    cpuMs: distribution(cpuMs),
    wasted: rounded(wastedMs / usedMs),
  };
}

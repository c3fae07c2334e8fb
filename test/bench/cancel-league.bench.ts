import { type ModelSpec } from '../../src/platform/config/model-spec.js';
import { Product } from '../support/product.js';
import { fetchRealModels } from '../support/real-models.js';
import { pause } from '../support/waiting.js';
import { abandonedRoutes, type Route } from './league/abandoned-routes.js';
import { atMost, progress, type BenchResult } from './support/bench-result.js';
import { CpuMeter, devicesOf, workAfter } from './support/cpu-activity.js';
import { distribution, type Distribution, rounded } from './support/percentiles.js';
import { seededRandom } from './support/seeded-random.js';

/** Over all routes. */
const ABANDONS = Number(process.env.LEAGUE_ABANDONS ?? 1000);
const ONLY = process.env.LEAGUE_ROUTES?.split(',');
const GIVE_UP_MS = 10_000;

interface RouteResult {
  /** From the moment at which the caller leaves until the device is idle. */
  readonly idleMs: Distribution;
  /** CPU that the device used within them: other work on the machine does not prolong it. */
  readonly cpuMs: Distribution;
  /** CPU of the workers after the caller had left, as a share of all their CPU. */
  readonly wasted: number;
}

/**
 * How soon does the device stop when nobody listens any more, on each route, and how much
 * of its time is wasted? Published models, one caller, who hangs up in the middle.
 */
export async function run(): Promise<BenchResult> {
  const { real, name, present } = await fetchRealModels();
  if (!present) throw new Error(`This bench needs ${name}`);
  await using product = await Product.start([...real.models, vectorsOf(real.models)]);
  await product.allReady();
  const models = { speech: 'whisper-base', text: 'smollm2-135m-instruct', voice: 'piper-en-joe', vectors: 'vectors' };
  const routes = await abandonedRoutes(real, models);
  const chosen = Object.entries(routes).filter(([route]) => ONLY?.includes(route) ?? true);
  const results: Record<string, RouteResult> = {};
  const random = seededRandom(1);
  for (const [route, { device, call }] of chosen) {
    const workers = await product.workers();
    const own = workers.filter(({ model }) => model === models[device]);
    results[route] = await abandon(call, product.url, devicesOf(...own.map(({ pid }) => pid)), {
      count: Math.ceil(ABANDONS / chosen.length),
      random,
    });
    progress(`  ${route}: ${JSON.stringify(results[route])}`);
  }
  const all = Object.values(results);
  return {
    results: { abandons: ABANDONS, ...results },
    goals: [
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
    ],
  };
}

/** The starter set has no model for embeddings: its language model gives some. */
function vectorsOf(models: readonly ModelSpec[]): ModelSpec {
  const { options } = models.find(({ engine }) => engine === 'llama-cpp')!;
  const { modelFile, device } = options as { modelFile: string; device: string };
  return {
    ...{ id: 'vectors', kind: 'embedding', engine: 'llama-cpp', aliases: [], languages: [] },
    ...{ capabilities: ['embeddings'], replicas: 1, addresses: [], voices: {} },
    options: { modelFile, device, pooling: 'mean' },
  };
}

async function abandon(
  call: Route['call'],
  url: string,
  pids: readonly number[],
  { count, random }: { readonly count: number; readonly random: () => number },
): Promise<RouteResult> {
  await call(url, new AbortController().signal);
  const startMs = performance.now();
  await call(url, new AbortController().signal);
  const wholeMs = performance.now() - startMs;
  progress(`    a whole one takes ${Math.round(wholeMs)} ms`);
  const meter = new CpuMeter(pids);
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
    const after = await workAfter(meter, GIVE_UP_MS);
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

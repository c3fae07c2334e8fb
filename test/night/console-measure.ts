import { type Browser, type Page } from 'playwright-core';
import { openBrowser } from '../support/browser.js';
import { type Product } from '../support/product.js';
import { ConsoleRig } from './console-rig.js';
import { FeedProxy } from './feed-proxy.js';

/**
 * The longest task of the console's main thread under load, and a list of 100,000
 * requests. node --import ./test/support/typescript-loader.mjs
 * test/night/console-measure.ts
 */
const WATCH_MS = 20_000;
const ROWS = 100_000;
const REPLAYED_PER_S = 500;

interface Measured {
  readonly what: string;
  /** Of requests at the gateway, which merges them, and sent to the page one by one. */
  readonly eventsPerS?: number;
  readonly replayedPerS?: number;
  readonly frames: number;
  /** By the clock, as PerformanceObserver tells it; a busy machine lengthens it. */
  readonly longestTaskMs: number;
  readonly tasksAbove50Ms: number;
  /** In time of the processor. */
  readonly longestTaskCpuMs: number;
  readonly heapMiB: number;
  readonly rowsInPage?: number;
}

const OBSERVE = `
  window.longTasks = [];
  window.frames = 0;
  new PerformanceObserver(list => longTasks.push(...list.getEntries().map(({ duration }) => duration)))
    .observe({ type: 'longtask', buffered: true });
  const count = () => { frames += 1; requestAnimationFrame(count); };
  requestAnimationFrame(count);
`;

const TRACED = ['disabled-by-default-devtools.timeline', '__metadata'];

interface TraceEvent {
  readonly name: string;
  readonly pid: number;
  readonly tid: number;
  /** Microseconds of the thread. */
  readonly tdur?: number;
  readonly args?: { readonly name?: string };
}

async function measure(
  browser: Browser,
  page: Page,
  what: string,
  act: () => Promise<void>,
): Promise<Measured> {
  await page.evaluate('longTasks.length = 0; frames = 0;');
  await browser.startTracing(page, { categories: TRACED });
  await act();
  const trace = JSON.parse((await browser.stopTracing()).toString()) as {
    traceEvents: TraceEvent[];
  };
  const tasks = await page.evaluate<number[]>('longTasks');
  const heap = await page.evaluate<number>('performance.memory.usedJSHeapSize');
  return {
    what,
    frames: await page.evaluate<number>('frames'),
    longestTaskMs: Math.round(Math.max(0, ...tasks)),
    tasksAbove50Ms: tasks.length,
    longestTaskCpuMs: longestCpuMs(trace.traceEvents),
    heapMiB: Math.round(heap / 1_048_576),
  };
}

/** Of the main threads of pages. */
function longestCpuMs(events: readonly TraceEvent[]): number {
  const threads = events.filter(
    ({ name, args }) => name === 'thread_name' && args?.name === 'CrRendererMain',
  );
  const main = new Set(threads.map(({ pid, tid }) => `${pid} ${tid}`));
  const tasks = events.filter(
    ({ name, pid, tid }) => name === 'RunTask' && main.has(`${pid} ${tid}`),
  );
  return Math.round(Math.max(0, ...tasks.map(({ tdur = 0 }) => tdur)) / 1000);
}

/** Arrived, taken and ended: three events of each request. */
async function events(product: Product): Promise<number> {
  const scrape = await product.gateway.scrape();
  return (
    2 * scrape.sum('switchyard_requests_accepted_total') + scrape.sum('scheduler_requests_total')
  );
}

interface Scene {
  readonly browser: Browser;
  readonly rig: ConsoleRig;
  readonly proxy: FeedProxy;
  readonly page: Page;
}

/** @param replayed deltas a second besides those of the gateway */
async function underLoad(
  { browser, rig, proxy, page }: Scene,
  view: string,
  replayed: number,
): Promise<Measured> {
  await page.goto(`${proxy.url}/console/${view}`);
  await page.locator('h1').waitFor();
  await page.waitForTimeout(3000);
  const [before, startMs] = [await events(rig.product), performance.now()];
  let sent = 0;
  const measured = await measure(browser, page, view || 'now', async () => {
    sent = await proxy.replay(replayed, WATCH_MS);
  });
  const rate = (1000 * ((await events(rig.product)) - before)) / (performance.now() - startMs);
  return {
    ...measured,
    eventsPerS: Math.round(rate),
    replayedPerS: Math.round((1000 * sent) / WATCH_MS),
  };
}

/** The gateway's list, as if it had so many requests; the rest is the real one. */
async function longList({ browser, rig, page }: Scene): Promise<Measured> {
  await page.route('**/admin/v1/requests?*', async route => {
    const query = new URL(route.request().url()).searchParams;
    const [offset, limit] = [Number(query.get('offset') ?? 0), Number(query.get('limit') ?? 100)];
    const data = Array.from({ length: Math.min(limit, ROWS - offset) }, (_, n) => ({
      ...{
        request_id: `req_${offset + n}`,
        state: 'queued',
        priority: 'batch',
        model: 'qwen3-8b',
        tenant: 'acme',
      },
      ...{
        waited_ms: 1000 * n,
        position: offset + n + 1,
        attempts: 0,
        phases: {},
        waits_for: 'turn',
        aged: false,
      },
    }));
    await route.fulfill({ json: { total: ROWS, data } });
  });
  await page.goto(`${rig.product.url}/console/requests`);
  await page.getByText('100,000 requests').waitFor();
  await page.locator('.rows-scroll').hover();
  const measured = await measure(browser, page, `scroll through ${ROWS} rows`, async () => {
    for (let step = 0; step < 200; step += 1)
      await page.mouse.wheel(0, step % 20 === 19 ? 200_000 : 600);
    await page.waitForTimeout(1000);
  });
  return { ...measured, rowsInPage: await page.locator('.rows-space .row').count() };
}

async function main(browser: Browser, rig: ConsoleRig, proxy: FeedProxy): Promise<void> {
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  await page.addInitScript(OBSERVE);
  await rig.signIn(page);
  const idle = await measure(browser, page, 'idle', () => page.waitForTimeout(3000));
  rig.load([40, 20, 20]);
  const scene = { browser, rig, proxy, page };
  const found = [idle];
  for (const replayed of [0, REPLAYED_PER_S])
    for (const view of ['', 'requests']) found.push(await underLoad(scene, view, replayed));
  found.push(await longList(scene));
  process.stdout.write(`${JSON.stringify(found, null, 2)}\n`);
}

const rig = await ConsoleRig.start({}, { fast: true });
const proxy = await FeedProxy.start(rig.product.url);
const browser = await openBrowser();
try {
  await main(browser, rig, proxy);
} finally {
  await browser.close();
  await proxy[Symbol.asyncDispose]();
  await rig[Symbol.asyncDispose]();
}
process.exit(0);

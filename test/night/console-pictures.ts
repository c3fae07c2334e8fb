import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Page } from 'playwright-core';
import { openBrowser } from '../support/browser.js';
import { ConsoleRig, VIEWS } from './console-rig.js';

/**
 * Pictures of every view, empty and under load, at two widths, light and dark, with what
 * axe finds. node --import ./test/support/typescript-loader.mjs
 * test/night/console-pictures.ts FOLDER [VIEW…]
 */
const [folder = 'pictures', ...wanted] = process.argv.slice(2);
const AXE = await readFile('console/node_modules/axe-core/axe.min.js', 'utf8');
const LOAD_MS = 40_000;

interface Shot {
  readonly page: Page;
  readonly url: string;
  readonly file: string;
}

/** @returns violations of accessibility, as `rule: element` */
async function take({ page, url, file }: Shot): Promise<string[]> {
  await page.goto(url);
  await page.locator('h1').waitFor();
  await page.waitForTimeout(2500);
  await page.screenshot({ path: join(folder, `${file}.png`), fullPage: true });
  await page.evaluate(AXE);
  return page.evaluate(
    'axe.run().then(({ violations }) => violations.map(({ id, nodes }) => `${id}: ${nodes[0].target}`))',
  );
}

async function takeAll(
  rig: ConsoleRig,
  page: Page,
  scene: string,
  viewsOf: () => Promise<string[]>,
): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    for (const width of [1440, 390]) {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width, height: 900 });
      for (const view of (await viewsOf()).filter(
        each => wanted.length === 0 || wanted.includes(each.split(/[/?]/)[0]!),
      )) {
        const name = view.split(/[/?]/).slice(0, 2).join('-').slice(0, 18) || 'now';
        const file = `${name}-${scene}-${width}-${colorScheme}`;
        const found = await take({
          page,
          url: `${rig.product.url}/console/${view}`,
          file,
        });
        process.stdout.write(`${file} ${found.length === 0 ? 'ok' : found.join(' ')}\n`);
      }
    }
  }
}

/** The pages of single things, as far as there are any. */
async function details(rig: ConsoleRig): Promise<string[]> {
  const list = (path: string) => rig.list(path) as Promise<Listed[]>;
  const requests = await Promise.all(
    ['queued', 'completed'].map(state => list(`/admin/v1/requests?state=${state}&limit=1`)),
  );
  const pages = requests
    .flat()
    .map(({ request_id: id, tenant = '' }) => `requests/${id}?tenant=${tenant}`);
  return [...pages, ...(await list('/v1/batches')).map(({ id }) => `batches/${id}`)];
}

interface Listed {
  readonly id?: string;
  readonly request_id?: string;
  readonly tenant?: string;
}

await mkdir(folder, { recursive: true });
const rig = await ConsoleRig.start();
const browser = await openBrowser();
try {
  const page = await browser.newPage();
  await rig.signIn(page);
  await takeAll(rig, page, 'empty', () => Promise.resolve(VIEWS));
  rig.load([16, 8, 4]);
  await rig.batch(6, 2);
  await rig.batch(400, 20);
  await page.waitForTimeout(LOAD_MS);
  await takeAll(rig, page, 'load', async () => [...(await details(rig)), ...VIEWS]);
} finally {
  await browser.close();
  await rig[Symbol.asyncDispose]();
}
process.exit(0);

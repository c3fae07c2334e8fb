import { readFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type Browser, type Page } from 'playwright-core';
import { openBrowser } from '../support/browser.js';
import { DEVICES, onDevice } from '../support/device-rig.js';
import { Product } from '../support/product.js';
import { BROWSER, CONSOLE, describeWith } from '../support/requires.js';
import { syntheticModel } from '../support/synthetic-model.js';
import { VIEWS } from './console-rig.js';

const AXE = 'console/node_modules/axe-core/axe.min.js';
/** The marker makes a request hold its worker until it is cancelled. */
const HANG = 'hang please';

describeWith(BROWSER, CONSOLE)('the console in a browser, on a gateway under load', () => {
  let product: Product;
  let browser: Browser;
  let page: Page;
  const complaints: string[] = [];

  beforeAll(async () => {
    const faults = [{ marker: HANG, action: 'hang' }];
    const slow = syntheticModel({ baseMs: 1, maxBatch: 1, maxConcurrent: 1, faults });
    const chat = syntheticModel({ tokens: 4 }, { id: 'chat', kind: 'llm', capabilities: ['chat'] });
    product = await Product.start([slow, chat], { 'batch.embedded': 'true' });
    browser = await openBrowser();
    page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
    page.on('pageerror', error => complaints.push(error.message));
    page.on('console', message => {
      if (message.text().includes('Content Security Policy')) complaints.push(message.text());
    });
  }, 120_000);
  afterAll(async () => {
    await browser?.close();
    await product?.[Symbol.asyncDispose]();
  });

  const open = (view: string) => page.goto(`${product.url}/console/${view}`);
  const violations = async () => {
    await page.evaluate(readFileSync(AXE, 'utf8'));
    return page.evaluate('axe.run().then(({ violations }) => violations.map(({ id }) => id))');
  };

  it.each([
    [1440, 'light'],
    [1440, 'dark'],
    [390, 'light'],
    [390, 'dark'],
  ] as const)(
    'shows every view without a violation of accessibility, %d px wide, %s',
    async (width, colorScheme) => {
      await page.setViewportSize({ width, height: 900 });
      await page.emulateMedia({ colorScheme });
      for (const view of [...VIEWS, 'none']) {
        await open(view);
        await page.locator('h1').waitFor();
        expect([view, await violations()]).toEqual([view, []]);
      }
      await page.setViewportSize({ width: 1440, height: 900 });
      await page.emulateMedia({ colorScheme: null });
    },
    120_000,
  );

  it.each([
    ['batches', 'Submit a batch'],
    ['tenants', 'Create a key'],
    ['workers', 'Log'],
    ['workers', 'Restart'],
  ])('of %s, the dialog "%s" has no violation', async (view, name) => {
    await open(view);
    await page.getByRole('button', { name, exact: true }).first().click();
    await page.getByRole('dialog').locator('h2').waitFor();
    expect(await violations()).toEqual([]);
    await page.keyboard.press('Escape');
  });

  it('says why a request waits and who is ahead, and cancels it', async () => {
    const fillers = [0, 1, 2, 3, 4, 5].map(n =>
      product.transcribe(HANG, { id: `req_filler_${n}` }),
    );
    await product.untilRunning(1);
    const last = product.transcribe('last', { id: 'req_last' });
    await product.until('the last one in the queue', async () => {
      const { data } = await product.json<{ data: { request_id: string }[] }>(
        '/admin/v1/requests?state=queued',
      );
      return data.some(({ request_id: id }) => id === 'req_last');
    });
    await open('requests');
    await page.locator('a', { hasText: 'req_last' }).click();
    await page.locator('.why', { hasText: 'every slot of the workers of synthetic' }).waitFor();
    await page.locator('.why', { hasText: 'Ahead of it' }).waitFor();
    await open('requests');
    await page.getByLabel('Choose req_last').check();
    await page.getByRole('button', { name: 'Cancel chosen' }).click();
    await page.getByRole('button', { name: 'Cancel them' }).click();
    expect((await last).ok).toBe(false);
    await page.getByRole('button', { name: 'Cancel all that match' }).click();
    await page.getByRole('button', { name: 'Cancel all', exact: true }).click();
    for (const filler of fillers) expect((await filler).ok).toBe(false);
  }, 120_000);

  it('shows a worker that dies and returns', async () => {
    const [worker] = await product.workers();
    await open('workers');
    await page.locator('section', { hasText: worker!.id }).locator('.state.good').waitFor();
    process.kill(worker!.pid!, 'SIGKILL');
    const card = page
      .locator('section')
      .filter({ has: page.locator('h2', { hasText: worker!.id }) });
    await card.locator('summary', { hasText: 'SIGKILL' }).waitFor();
    await card.locator('.state.good').waitFor();
  }, 120_000);

  it('shows a device: what is on it over time, what waits for what, and what is next', async () => {
    const [large, slow] = [{ memory: '8GiB' }, { marker: 'long', action: 'slow', ms: 15_000 }];
    const models = [onDevice('a', large, { faults: [slow] }), onDevice('b', large)];
    await using shared = await Product.start(models, {}, { devices: DEVICES });
    const long = shared.transcribe('long', { model: 'a' });
    await shared.untilRunning(1);
    await page.goto(`${shared.url}/console/`);
    const card = page.locator('section').filter({ has: page.locator('h2', { hasText: 'gpu0' }) });
    await card.getByRole('img', { name: 'gpu0: a resident, b not loaded' }).waitFor();
    const b = shared.transcribe('b', { model: 'b', priority: 'realtime' });
    await card
      .getByText(/^1 waiting: it waits for a \(1 request ahead\) to leave gpu0; b/)
      .waitFor();
    await card.getByText('b is next on gpu0, because REALTIME requests wait for it').waitFor();
    expect(await violations()).toEqual([]);
    const answers = await Promise.all([long, b]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    await card.getByRole('img', { name: 'gpu0: a not loaded, b resident' }).waitFor();
    // Each was loading and resident, and one of them left.
    expect(await card.locator('rect').count()).toBe(5);
  }, 120_000);

  it('runs a batch from a file to its download', async () => {
    const file = join(product.folder, 'lines.jsonl');
    const line = (id: string) => ({
      ...{ custom_id: id, method: 'POST', url: '/v1/chat/completions' },
      body: { model: 'chat', messages: [{ role: 'user', content: 'hello' }] },
    });
    await writeFile(file, ['a', 'b'].map(id => JSON.stringify(line(id))).join('\n'));
    await open('batches');
    await page.getByRole('button', { name: 'Submit a batch' }).click();
    await page.setInputFiles('dialog input[type=file]', file);
    await page.locator('dialog', { hasText: '2 requests for /v1/chat/completions' }).waitFor();
    await page.getByRole('button', { name: 'Submit', exact: true }).click();
    const results = page.getByRole('link', { name: 'Results' });
    await results.waitFor({ timeout: 60_000 });
    const [download] = await Promise.all([page.waitForEvent('download'), results.click()]);
    const text = await readFile(await download.path(), 'utf8');
    expect(text.trim().split('\n').length).toBe(2);
  }, 120_000);

  it('loads nothing from elsewhere and breaks no rule of its own policy', async () => {
    await open('');
    await page.locator('h1').waitFor();
    const loaded = await page.evaluate(() =>
      performance.getEntriesByType('resource').map(({ name }) => name),
    );
    expect(loaded.filter(name => !name.startsWith(product.url))).toEqual([]);
    expect(complaints).toEqual([]);
  });
});

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type Browser, type Page } from 'playwright-core';
import { addApiKey } from '../../src/platform/auth/keys-file.js';
import { openBrowser } from '../support/browser.js';
import { Product } from '../support/product.js';
import { BROWSER, CONSOLE, describeWith } from '../support/requires.js';
import { syntheticModel } from '../support/synthetic-model.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { until } from '../support/waiting.js';
import { VIEWS } from './console-rig.js';

const MODELS = 30;
const REQUESTS = 5000;
const WARNINGS = 60;
/** Where to look at the pictures; without it none are written. */
const { CONSOLE_PICTURES: pictures } = process.env;
const HANG = 'hang please';
/** What shows the slots in use of a model: a square each, or one bar for many. */
const USED = '[data-stop=workers] :is(.slot-group .used, .bar .accent)';

const names = Array.from(
  { length: MODELS },
  (_, n) => `organisation-${n}--a-model-with-a-long-name-${'x'.repeat(n)}`,
);
const models = names.map((id, n) =>
  syntheticModel(
    { maxConcurrent: 8, dimensions: 4, faults: [{ marker: HANG, action: 'hang' }] },
    { id, kind: 'embedding', capabilities: ['embeddings'], aliases: [`alias-${n}-of-${id}`] },
  ),
);

/**
 * Texts that leave a box, as `element: text`. Of a box that scrolls or cuts off, the box
 * itself is compared from there on. Blanks at the end of a line of `pre-wrap` may hang over.
 */
const LEAVING = `(() => {
  const found = [];
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const isBox = style => !/^(inline|contents|none)$/.test(style.display);
  const nameOf = element => element.tagName.toLowerCase() + [...element.classList].map(name => '.' + name).join('');
  while (walk.nextNode()) {
    const text = walk.currentNode;
    if (text.data.trim() === '' || text.parentElement.closest('script, style, option, [hidden]')) continue;
    const range = document.createRange();
    range.selectNodeContents(text);
    let shown = [...range.getClientRects()].filter(({ width }) => width > 0);
    for (let box = text.parentElement; box && shown.length > 0; box = box.parentElement) {
      const style = getComputedStyle(box);
      if (!isBox(style)) continue;
      const rect = box.getBoundingClientRect();
      const hanging = style.whiteSpace.startsWith('pre') ? 20 : 1;
      if (style.position === 'fixed') break;
      if (style.overflow !== 'visible') { shown = [rect]; continue; }
      const leaves = shown.some(({ left, right, top, bottom }) =>
        left < rect.left - 1 || right > rect.right + hanging || top < rect.top - 4 || bottom > rect.bottom + 4);
      if (leaves) { found.push(nameOf(box) + ': ' + text.data.trim().slice(0, 60)); break; }
    }
  }
  if (document.documentElement.scrollWidth > innerWidth) found.push('the page: ' + document.documentElement.scrollWidth);
  return [...new Set(found)];
})()`;

describeWith(BROWSER, CONSOLE)('the console on a noisy day', () => {
  let product: Product;
  let browser: Browser;
  let page: Page;
  let key: string;

  const ask = (path: string, body: object) =>
    fetch(product.url + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  const embed = async (n: number) => {
    const answer = await ask('/v1/embeddings', { model: names[n % MODELS], input: `text ${n}` });
    await answer.arrayBuffer();
  };

  beforeAll(async () => {
    const keysFile = join(temporaryFolder(), 'keys.yaml');
    ({ key } = addApiKey(keysFile, { tenant: 'ops', scopes: ['admin', 'inference', 'events'] }));
    product = await Product.hosted(models, {
      'auth.keys_file': keysFile,
      'batch.embedded': 'true',
      'limits.requests_per_minute': 1e6,
    });
    await product.until('all models are up', async () => {
      const answer = await fetch(`${product.url}/health/ready`);
      return answer.ok;
    });
    for (let n = 0; n < 12; n += 1)
      await ask('/admin/v1/keys', {
        name: `a key of a team with a long name, number ${n}`,
        tenant: `team-with-a-long-name-${'y'.repeat(n)}`,
        scopes: ['inference', 'events', 'admin'],
        models: names.slice(0, n + 1),
        limits: { requests_per_minute: 600, tokens_per_minute: 100_000, weight: 2 },
      });
    const lanes = Array.from({ length: 50 }, async (_, lane) => {
      for (let n = lane; n < REQUESTS; n += 50) await embed(n);
    });
    await Promise.all(lanes);
    // Until the gateway ends: there is always something that waits.
    for (let n = 0; n < 40; n += 1)
      void ask('/v1/embeddings', { model: names[0], input: HANG }).catch(() => undefined);
    writeFileSync(keysFile, `keys: [{ id: ${'z'.repeat(400)} }]\n`);
    const { child } = product.gateway.process;
    for (let n = 0; n < WARNINGS; n += 1) {
      child.kill('SIGHUP');
      await product.until('it is logged', async () => (await warnings()) > n);
    }
    browser = await openBrowser();
    page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
    await page.goto(`${product.url}/console`);
    await page.getByLabel('API key').fill(key);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.locator('nav').first().waitFor({ state: 'attached' });
  }, 240_000);
  afterAll(async () => {
    await browser?.close();
    await product?.[Symbol.asyncDispose]();
  });

  const warnings = async () => {
    const answer = await fetch(`${product.url}/admin/v1/logs?level=warn&lines=500`, {
      headers: { authorization: `Bearer ${key}` },
    });
    return ((await answer.json()) as { data: unknown[] }).data.length;
  };
  const settled = async (name: string) => {
    await page.locator('h1').waitFor();
    await until(async () => (await page.locator('.skeleton').count()) === 0);
    await page.evaluate('for (const one of document.querySelectorAll("details")) one.open = true');
    await page.evaluate('new Promise(next => setTimeout(next, 500))');
    if (pictures) await page.screenshot({ path: join(pictures, `${name}.png`), fullPage: true });
  };

  it.each(VIEWS.flatMap(view => [390, 1280].map(width => [view, width] as const)))(
    'keeps each text of "%s" inside its box at %d px',
    async (view, width) => {
      await page.setViewportSize({ width, height: 900 });
      await page.goto(`${product.url}/console/${view}`);
      await settled(`${view || 'now'}-${width}`);
      expect(await page.evaluate(LEAVING)).toEqual([]);
    },
    60_000,
  );

  it.each([
    ['tenants', 'Create a key'],
    ['tenants', 'Change'],
    ['workers', 'Log'],
  ])('keeps each text of %s, "%s", inside its box at 390 px', async (view, button) => {
    await page.setViewportSize({ width: 390, height: 900 });
    await page.goto(`${product.url}/console/${view}`);
    await page.getByRole('button', { name: button, exact: true }).first().click();
    await page.getByRole('dialog').locator('h2').waitFor();
    await settled(`${view}-${button}`);
    expect(await page.evaluate(LEAVING)).toEqual([]);
  });

  it('shows slots in use in a colour that no priority has', async () => {
    await page.setViewportSize({ width: 1280, height: 900 });
    await page.goto(`${product.url}/console`);
    await settled('slots');
    await page.locator(USED).first().waitFor();
    const [used, ...priorities] = await page.evaluate<string[]>(`(() => {
      const toned = ['realtime', 'batch', 'aged'].map(name => {
        const element = document.body.appendChild(document.createElement('i'));
        element.style.background = 'var(--' + name + ')';
        return element;
      });
      const all = [document.querySelector('${USED}'), ...toned];
      return all.map(element => getComputedStyle(element).backgroundColor);
    })()`);
    expect(new Set(priorities).size).toBe(3);
    expect(priorities).not.toContain(used);
  });

  it('shows of requests when and by which route they came, of keys their limits, and where settings come from', async () => {
    await page.setViewportSize({ width: 1280, height: 900 });
    await page.goto(`${product.url}/console/requests?state=completed`);
    await page.locator('.rows-space .row', { hasText: '/v1/embeddings' }).first().waitFor();
    await page.locator('.rows-space .row time').first().waitFor();
    await page.goto(`${product.url}/console/tenants`);
    await page.getByText('requests_per_minute=600').first().waitFor();
    await page.goto(`${product.url}/console/settings`);
    const from = page.getByRole('row', { name: /^queue.max_requests / }).locator('.tag');
    await from.waitFor();
    expect(await from.innerText()).toBe('default');
  });

  it('changes the limits of a key', async () => {
    await page.goto(`${product.url}/console/tenants`);
    const row = page.getByRole('row', { name: 'number 0' });
    await row.getByRole('button', { name: 'Change' }).click();
    const limits = page.getByRole('textbox', { name: /^Limits/ });
    expect(await limits.inputValue()).toContain('requests_per_minute=600');
    await limits.fill('requests_per_minute=7');
    await page.getByRole('button', { name: 'Save' }).click();
    await row.getByText('requests_per_minute=7', { exact: true }).waitFor();
  });
});

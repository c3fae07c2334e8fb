import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type Browser, type Page } from 'playwright-core';
import { parse } from 'yaml';
import { type ModelSpec } from '../../src/platform/config/model-spec.js';
import { openBrowser } from '../support/browser.js';
import { pcmWav } from '../support/pcm-wav.js';
import { Product } from '../support/product.js';
import { BROWSER, describeWith } from '../support/requires.js';

const RATE = 24_000;
const SENTENCE = 'The train is on the right track.';
/** One wrong word is forgiven: recognition is real. */
const WORDS = ['train', 'right', 'track'];
const silence = (seconds: number): Buffer => Buffer.alloc(seconds * RATE * 2);

const suite = describeWith(BROWSER);

suite('/console/realtime in a browser whose microphone hears flite', () => {
  let product: Product;
  let browser: Browser;
  let page: Page;
  let folder: string;
  const complaints: string[] = [];

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'switchyard-console-'));
    const { models } = parse(await readFile('config/models.yaml', 'utf8')) as { models: ModelSpec[] };
    product = await Product.start(models);
    await product.until('all models ready', async () =>
      (await product.workers()).every(({ state }) => state === 'ready'),
    );
    const microphone = join(folder, 'microphone.wav');
    await writeFile(microphone, pcmWav(Buffer.concat([silence(1), await spoken(), silence(8)]), RATE));
    browser = await openBrowser(microphone);
    page = await browser.newPage();
    page.on('pageerror', error => complaints.push(error.message));
    page.on('console', message => message.type() === 'error' && complaints.push(message.text()));
  }, 120_000);
  afterAll(async () => {
    await browser?.close();
    await product?.[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
  });

  async function spoken(): Promise<Buffer> {
    const body = JSON.stringify({ model: 'tts-1', voice: 'alloy', input: SENTENCE, response_format: 'pcm' });
    const headers = { 'content-type': 'application/json' };
    const answer = await fetch(`${product.url}/v1/audio/speech`, { method: 'POST', headers, body });
    return Buffer.from(await answer.arrayBuffer());
  }

  it('shows queue and workers as they are', async () => {
    await page.goto(`${product.url}/console/realtime`);
    await page.locator('#feed', { hasText: 'Live' }).waitFor();
    await page.locator('#queue .card', { hasText: 'pocketsphinx-en' }).waitFor();
    await page.locator('#workers', { hasText: 'flite-en-0 · ready' }).waitFor();
    expect(await page.locator('#queue .card', { hasText: 'flite-en' }).innerText()).toContain('1 done');
  });

  it('writes what the microphone hears, while it hears it, and settles the sentence', async () => {
    await page.click('#record');
    await page.locator('#transcript p.partial').waitFor({ timeout: 60_000 });
    await page.locator('#transcript p[data-item]:not(.partial)').waitFor({ timeout: 60_000 });
    const text = await page.innerText('#transcript');
    expect(WORDS.filter(word => text.includes(word)).length).toBeGreaterThanOrEqual(2);
    await page.click('#record');
    await page.locator('#state', { hasText: 'Stopped' }).waitFor();
  }, 150_000);

  it('needs nothing from elsewhere and breaks no rule of its own policy', async () => {
    expect(complaints).toEqual([]);
    expect(await page.locator('#problem').isVisible()).toBe(false);
    const loaded = await page.evaluate(() => performance.getEntriesByType('resource').map(({ name }) => name));
    expect(loaded.filter(name => !name.startsWith(product.url))).toEqual([]);
  });
});

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type Browser, type Page, type Response } from 'playwright-core';
import { openBrowser } from '../support/browser.js';
import { Product } from '../support/product.js';
import { fetchFirstModels } from '../support/real-models.js';
import { BROWSER, describeWith } from '../support/requires.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const first = await fetchFirstModels();
const suite = describeWith(BROWSER, first);

suite('Swagger UI: what stands there runs as it stands', () => {
  let product: Product;
  let browser: Browser;
  let page: Page;
  let folder: string;

  beforeAll(async () => {
    folder = temporaryFolder();
    product = await Product.start(first.models);
    await product.allReady();
    browser = await openBrowser();
    page = await browser.newPage();
    page.setDefaultTimeout(60_000);
    await page.goto(`${product.url}/docs`);
    await page.locator('.opblock').first().waitFor();
  }, 120_000);
  afterAll(async () => {
    await browser?.close();
    await product?.[Symbol.asyncDispose]();
  });

  /**
   * Opens the operation, chooses the file where one is asked for, and presses Execute.
   */
  async function execute(path: string, file?: string): Promise<Response> {
    const block = page.locator('.opblock-post', {
      has: page.locator(`[data-path="${path}"]`),
    });
    await block.locator('.opblock-summary-control').click();
    if (file) await block.locator('input[type=file]').setInputFiles(file);
    const answer = page.waitForResponse(product.url + path);
    await block.getByRole('button', { name: 'Execute' }).click();
    return answer;
  }

  it('begins with audio', async () => {
    expect(await page.locator('.opblock-tag').first().innerText()).toContain('audio');
  });

  it('speaks, and each upload takes what was spoken: no field is sent that nobody filled in', async () => {
    const spoken = await execute('/v1/audio/speech');
    expect([spoken.status(), spoken.headers()['content-type']]).toEqual([200, 'audio/wav']);
    const seconds = await page.locator('audio').evaluate(
      (player: { readonly duration: number }) =>
        new Promise(resolve => {
          const look = () =>
            player.duration > 0 ? resolve(player.duration) : setTimeout(look, 20);
          look();
        }),
    );
    expect(seconds).toBeGreaterThan(0.5);
    const file = join(folder, 'fox.wav');
    const body = {
      model: 'tts-1',
      voice: 'alloy',
      input: 'The quick brown fox.',
      response_format: 'wav',
    };
    const headers = { 'content-type': 'application/json' };
    const again = await fetch(spoken.url(), {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
    });
    await writeFile(file, Buffer.from(await again.arrayBuffer()));

    for (const path of ['/v1/audio/transcriptions', '/v1/audio/translations']) {
      const heard = await execute(path, file);
      expect([path, heard.status(), await heard.text()]).toEqual([
        path,
        200,
        expect.stringContaining('fox'),
      ]);
    }
    expect((await execute('/v1/files', file)).status()).toBe(200);
  }, 120_000);
});

import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type Browser, type Page } from 'playwright-core';
import { KeysFolder } from '../integration/auth/keys-folder.js';
import { openBrowser } from '../support/browser.js';
import { GatewayProcess } from '../support/gateway-process.js';
import { RedisServer } from '../support/redis-server.js';
import { BROWSER, CONSOLE, describeWith, REDIS } from '../support/requires.js';
import { syntheticModel } from '../support/synthetic-model.js';
import { temporaryFolder } from '../support/temporary-folder.js';

/** One worker of it has two slots: one request at the device, one behind it. */
const MODELS = [syntheticModel({ maxBatch: 1, maxConcurrent: 1 })];

describeWith(BROWSER, CONSOLE)('the console where keys are asked for', () => {
  let keys: KeysFolder;
  let folder: string;
  let operator: string;
  let gateway: GatewayProcess;
  let browser: Browser;
  let page: Page;
  let made = '';

  /** With a secret of its own a gateway would forget its sessions when it ends. */
  const start = (port?: number) => {
    const settings = {
      'auth.keys_file': keys.file,
      'auth.token_secret_file': join(folder, 'secret'),
    };
    return GatewayProcess.start(MODELS, settings, {
      folder,
      ...(port !== undefined && { port }),
    });
  };
  const open = (view: string) => page.goto(`http://127.0.0.1:${gateway.port}/console/${view}`);
  const signIn = async (key: string) => {
    await page.getByLabel('API key').fill(key);
    await page.getByRole('button', { name: 'Sign in' }).click();
  };
  const views = () => page.locator('nav a').allInnerTexts();

  beforeAll(async () => {
    keys = new KeysFolder();
    folder = temporaryFolder();
    await writeFile(join(folder, 'secret'), 'f'.repeat(64));
    operator = keys.add('operator', 'inference', 'admin', 'events');
    gateway = await start();
    browser = await openBrowser();
    page = await browser.newPage();
  }, 120_000);
  afterAll(async () => {
    await browser?.close();
    await gateway?.[Symbol.asyncDispose]();
  });

  it('signs in with a key and makes another, which is shown once', async () => {
    await open('tenants');
    await signIn('sk-wrong');
    await page.getByRole('alert').waitFor();
    await signIn(operator);
    await page.getByRole('button', { name: 'Create a key' }).click();
    await page.getByRole('textbox', { name: 'Name' }).fill('web shop');
    await page.getByRole('textbox', { name: 'Tenant' }).fill('acme');
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    made = await page.locator('code.secret').innerText();
    await page.getByRole('button', { name: 'I have stored it' }).click();
    await page.getByRole('row', { name: 'web shop' }).getByText('valid').waitFor();
    expect(await page.content()).not.toContain(made);
    expect(
      await page.evaluate('JSON.stringify([{ ...localStorage }, document.cookie])'),
    ).not.toContain('sk-');
  }, 60_000);

  it('is live again when the gateway was stopped and started, without a new sign-in', async () => {
    await open('workers');
    const feed = page.locator('.side-foot [role=status]');
    await feed.getByText('Live').waitFor();
    await gateway[Symbol.asyncDispose]();
    await feed.getByText('Not connected').waitFor();
    gateway = await start(gateway.port);
    await feed.getByText('Live').waitFor({ timeout: 30_000 });
    await page.locator('section', { hasText: 'synthetic-0' }).locator('.state.good').waitFor();
  }, 120_000);

  it('shows a key without the scope admin its own views only', async () => {
    await page.getByRole('button', { name: 'Sign out' }).click();
    await signIn(made);
    await page.locator('nav a').first().waitFor();
    expect((await views()).map(text => text.trim())).toEqual(['Batches', 'Models', 'Playground']);
    await open('settings');
    await page.getByText('Your key has no access to this').first().waitFor();
  }, 60_000);

  it('transcribes what the microphone hears', async () => {
    await open('playground');
    await page.getByRole('button', { name: 'Record instead' }).click();
    await page.getByRole('button', { name: 'Stop recording' }).click();
    await page.getByText('microphone.webm').first().waitFor();
    await page.getByRole('button', { name: 'Transcribe' }).click();
    await page.getByText('Total').waitFor();
  }, 60_000);
});

describeWith(
  BROWSER,
  CONSOLE,
  REDIS,
)('the console of one of two gateways', () => {
  it('shows the workers of both', async () => {
    const redis = await RedisServer.start();
    const folders = await Promise.all(
      [1, 2].map(() => mkdtemp(join(tmpdir(), 'switchyard-console-'))),
    );
    const gateways = await Promise.all(
      folders.map(folder => GatewayProcess.start(MODELS, { 'redis.url': redis.url }, { folder })),
    );
    const browser = await openBrowser();
    const page = await browser.newPage();
    await page.goto(`http://127.0.0.1:${gateways[0]!.port}/console`);
    await page.locator('[data-stop=workers]', { hasText: '0 / 4' }).waitFor();
    await gateways[1]![Symbol.asyncDispose]();
    await page.locator('[data-stop=workers]', { hasText: '0 / 2' }).waitFor();
    await browser.close();
    await gateways[0]![Symbol.asyncDispose]();
    await redis[Symbol.asyncDispose]();
  }, 120_000);
});

import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import { type Browser, type Page } from 'playwright-core';
import { openBrowser } from '../support/browser.js';
import { type SettingOverrides } from '../support/gateway-process.js';
import { BROWSER, CONSOLE, describeWith } from '../support/requires.js';
import { SmallDisk } from '../support/small-disk.js';
import { ConsoleRig } from './console-rig.js';

/** A worker that died stays away for so long. */
const AWAY_MS = 120_000;

describeWith(BROWSER, CONSOLE)('the cause of an incident, in the console', () => {
  let browser: Browser;
  let rig: ConsoleRig;
  let page: Page;
  let clicks = 0;

  /** The first page, once it says what is wrong. */
  const begin = async (settings: SettingOverrides, clients: readonly number[]) => {
    rig = await ConsoleRig.start(settings);
    page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
    await rig.signIn(page);
    rig.load(clients);
    clicks = 0;
  };
  const said = (text: RegExp) =>
    page.locator('.lead [role=status]').filter({ hasText: text }).waitFor();
  const click = async (name: string) => {
    clicks += 1;
    await page.locator('.lead').getByRole('link', { name, exact: true }).click();
  };

  beforeAll(async () => void (browser = await openBrowser()));
  afterEach(async () => {
    await page.close();
    await rig[Symbol.asyncDispose]();
  });
  afterAll(() => browser?.close());

  it('a worker that is gone: named at once, its last exit one click away', async () => {
    await begin(
      { 'workers.restart_min_ms': AWAY_MS, 'workers.restart_max_ms': AWAY_MS },
      [8, 8, 8],
    );
    const workers = (await rig.list('/admin/v1/workers')) as {
      id: string;
      pid: number;
    }[];
    const { id, pid } = workers.find(worker => worker.id.startsWith('qwen3-8b'))!;
    process.kill(pid, 'SIGKILL');
    await said(/^qwen3-8b: no worker is ready/);
    await click('Workers');
    const card = page.locator('section').filter({ has: page.locator('h2', { hasText: id }) });
    await card.locator('summary', { hasText: 'SIGKILL' }).waitFor();
    await card.getByText('none while lost').waitFor();
    expect(clicks).toBe(1);
  }, 120_000);

  it('a tenant that floods a model: named at once, its requests one click away', async () => {
    await begin({}, [60, 2, 2]);
    await said(/^qwen3-8b: .* are of tenant acme/);
    await click('Its requests');
    await page.getByRole('table').getByText('acme').first().waitFor();
    expect(clicks).toBe(1);
  }, 120_000);

  it('a full disk: named at once, with what helps; the dependency and its runbook one click away', async () => {
    using disk = SmallDisk.mount();
    await begin({ 'data.dir': join(disk.path, 'data') }, []);
    await disk.fill();
    await said(/^The disk of the data folder has 0 MiB left/);
    await click('Health');
    await page
      .locator('.finding', { hasText: 'disk' })
      .getByText('switchyarddiskalmostfull')
      .waitFor();
    expect(clicks).toBe(1);
    await disk.makeRoom();
  }, 120_000);
});

import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type Browser } from 'playwright-core';
import { openBrowser } from '../support/browser.js';
import { GatewayRig } from '../integration/api/gateway-rig.js';
import { sttModel } from '../integration/api/models.js';
import { KeysFolder } from '../integration/auth/keys-folder.js';
import { BROWSER, describeWith } from '../support/requires.js';

const suite = describeWith(BROWSER);

suite('/console/realtime of a gateway that asks for keys', () => {
  let rig: GatewayRig;
  let folder: KeysFolder;
  let browser: Browser;
  let key: string;
  beforeAll(async () => {
    folder = await KeysFolder.create();
    key = folder.add('acme', 'inference', 'events');
    rig = await GatewayRig.start({ models: [sttModel()], settings: { 'auth.keys_file': folder.file } });
    browser = await openBrowser();
  });
  afterAll(async () => {
    await browser.close();
    await rig.close();
    await folder.remove();
  });

  it('opens without a key, says what is missing, and goes on with the key that is typed', async () => {
    const page = await browser.newPage();
    await page.goto(`${rig.url}/console/realtime`);
    await page.locator('#feed', { hasText: 'No API key was given' }).waitFor();
    await page.fill('#key', key);
    await page.press('#key', 'Tab');
    await page.locator('#feed', { hasText: 'Live' }).waitFor();
    await page.locator('#model option', { hasText: 'stt' }).waitFor({ state: 'attached' });
    expect(page.url()).not.toContain(key);
  });

  it('says why a session was refused', async () => {
    const page = await browser.newPage();
    await page.goto(`${rig.url}/console/realtime`);
    await page.click('#record');
    await page.locator('#problem', { hasText: 'Is the API key right?' }).waitFor();
  });
});

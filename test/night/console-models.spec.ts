import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type Browser, type Page } from 'playwright-core';
import { stringify } from 'yaml';
import { Catalogue } from '../../src/cli/models/catalogue/catalogue.js';
import { openBrowser } from '../support/browser.js';
import { GatewayProcess } from '../support/gateway-process.js';
import { HubServer } from '../support/hub-server.js';
import { BROWSER, CONSOLE, describeWith } from '../support/requires.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const NAME = 'sense-voice-small';
const MODEL = 'model.int8.onnx';

/**
 * The entry of the catalogue, with files of unknown sums: the hub serves
 * small ones instead.
 */
function ownEntry() {
  const entry = Catalogue.load('').find(NAME);
  const { from, files } = Object.values(entry.sources)[0]!;
  const repository = from.slice('hf:'.length).split('@')[0]!;
  const unknown = Object.fromEntries(Object.keys(files).map(file => [file, {}]));
  const sources = { model: { from: `hf:${repository}`, files: unknown } };
  return { repository, entry: { ...entry, sources, unverified: true } };
}

describeWith(BROWSER, CONSOLE)('the console of a gateway without models', () => {
  let folder: string;
  let hub: HubServer;
  let gateway: GatewayProcess;
  let browser: Browser;
  let page: Page;

  beforeAll(async () => {
    folder = temporaryFolder();
    const { repository, entry } = ownEntry();
    const [model, tokens] = await Promise.all(
      ['model.onnx', 'tokens.txt'].map(name => readFile(`test/fixtures/sherpa/nemo-ctc/${name}`)),
    );
    hub = await HubServer.start({
      repository,
      files: { [MODEL]: model!, 'tokens.txt': tokens! },
    });
    const catalogue = join(folder, 'catalogue.yaml');
    await writeFile(catalogue, stringify({ catalogue: [entry] }));
    const settings = {
      ...{
        'hub.endpoint': hub.url,
        'hub.catalogue_file': catalogue,
        'hub.models_dir': join(folder, 'models'),
      },
    };
    gateway = await GatewayProcess.start([], settings, { folder, until: 'live' });
    browser = await openBrowser();
    page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  }, 120_000);
  afterAll(async () => {
    await browser?.close();
    await gateway?.[Symbol.asyncDispose]();
    await hub?.[Symbol.asyncDispose]();
  });

  const add = async () => {
    await page.getByRole('button', { name: 'Add from the catalogue' }).click();
    const models = page.getByRole('combobox', { name: 'Model' });
    const whisper = models.getByText('whisper-small');
    expect(await whisper.textContent()).toContain(
      'whisper-small needs ctranslate2, which is not installed: ',
    );
    expect(await whisper.isDisabled()).toBe(true);
    expect(await models.getByText('qwen3-8b').textContent()).toMatch(/^qwen3-8b · [\d.]+ GiB · /);
    expect(await models.getByText(NAME).textContent()).toContain(`${NAME} · size unknown · `);
    await models.selectOption(NAME);
    await page.getByText('Licence: model-license of FunAudioLLM/SenseVoiceSmall').waitFor();
    await page.getByRole('button', { name: 'Download and serve' }).click();
  };
  const adding = () =>
    page.locator('section').filter({ has: page.locator('h2', { hasText: `Download of ${NAME}` }) });

  it('leads from the address of the server to its first model', async () => {
    await page.goto(`http://127.0.0.1:${gateway.port}/`);
    await page.getByText('No models yet').waitFor();
    await page.locator('main').getByRole('link', { name: 'Add the first one' }).click();
    await page.getByText('No models', { exact: true }).waitFor();
  }, 60_000);

  it('stops a download, resumes it and serves the model', async () => {
    hub.script(MODEL, { kind: 'stall', bytes: 1000 });
    await add();
    await hub.stalled;
    await adding().locator('.state', { hasText: 'running' }).waitFor();
    await adding().getByRole('button', { name: 'Stop' }).click();
    await adding().locator('.state', { hasText: 'cancelled' }).waitFor();
    await add();
    await adding().first().locator('.state', { hasText: 'added' }).waitFor();
    const card = page
      .locator('section')
      .filter({ has: page.getByRole('heading', { name: NAME, exact: true }) });
    await card.locator('.state', { hasText: 'loaded' }).waitFor();
    expect(hub.downloads(MODEL).map(({ range }) => range)).toEqual([
      undefined,
      expect.stringContaining('bytes='),
    ]);
  }, 120_000);
});

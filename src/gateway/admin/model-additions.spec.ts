import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { stringify } from 'yaml';
import { HubServer } from '../../../test/support/hub-server.js';
import { temporaryFolder } from '../../../test/support/temporary-folder.js';
import { until } from '../../../test/support/waiting.js';
import { ModelAdditions } from './model-additions.js';
import { type ModelSwitch } from './model-switch.js';

const NAME = 'ears';
const fixture = (name: string): Buffer => readFileSync(`test/fixtures/sherpa/nemo-ctc/${name}`);

describe('a model that is added by the command line of this release', () => {
  let hub: HubServer;
  let folder: string;
  let reloads: number;
  let additions: ModelAdditions;

  beforeEach(async () => {
    folder = temporaryFolder();
    const files = { 'model.int8.onnx': fixture('model.onnx'), 'tokens.txt': fixture('tokens.txt') };
    hub = await HubServer.start({ repository: 'a/b', files });
    writeFileSync(join(folder, 'models.yaml'), 'models: []\n');
    Object.assign(process.env, {
      HF_ENDPOINT: hub.url,
      SWITCHYARD_DATA_DIR: join(folder, 'data'),
      SWITCHYARD_HUB_CATALOGUE_FILE: join(folder, 'catalogue.yaml'),
      SWITCHYARD_HUB_MODELS_DIR: join(folder, 'pulled'),
      SWITCHYARD_WORKERS_MODELS_FILE: join(folder, 'models.yaml'),
    });
    reloads = 0;
    const models = { reload: () => Promise.resolve((reloads += 1)) };
    additions = new ModelAdditions(models as unknown as ModelSwitch);
  });
  afterEach(async () => {
    additions.onApplicationShutdown();
    await hub[Symbol.asyncDispose]();
  });

  async function ended(name: string) {
    additions.start(name);
    await until(() => additions.list()[0]!.state !== 'running');
    return additions.list()[0]!;
  }

  it('is served as soon as it is in the models file', async () => {
    const names = { 'model.int8.onnx': {}, 'tokens.txt': {} };
    const sources = { model: { from: 'hf:a/b', files: names } };
    writeFileSync(join(folder, 'catalogue.yaml'), stringify({ catalogue: [entry(sources)] }));
    expect(await ended(NAME)).toMatchObject({ state: 'added' });
    await until(() => reloads === 1);
    expect(readFileSync(join(folder, 'models.yaml'), 'utf8')).toContain(`id: ${NAME}`);
  });

  it('is cancelled by a shutdown', () => {
    writeFileSync(join(folder, 'catalogue.yaml'), 'catalogue: []\n');
    additions.start(NAME);
    additions.onApplicationShutdown();
    expect(additions.list()).toMatchObject([{ state: 'cancelled' }]);
  });

  it('that fails changes nothing, and its last lines say why', async () => {
    writeFileSync(join(folder, 'catalogue.yaml'), 'catalogue: []\n');
    const failed = await ended('nothing-like-it');
    expect([failed.state, reloads]).toEqual(['failed', 0]);
    expect(JSON.stringify(failed)).toContain('nothing-like-it');
  });
});

const entry = (sources: object): object => ({
  name: NAME,
  summary: 'A tiny recogniser',
  licence: 'MIT',
  unverified: true,
  sources,
  entry: {
    kind: 'stt',
    engine: 'sherpa-onnx',
    capabilities: ['transcribe'],
    languages: ['en'],
    options: { modelDir: '{model}' },
  },
});

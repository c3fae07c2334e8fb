import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { stringify } from 'yaml';
import { ModelList } from '../../../src/platform/config/config.module.js';
import { formOf } from '../../support/form-of.js';
import { HubServer } from '../../support/hub-server.js';
import { pcmWav } from '../../support/pcm-wav.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { until } from '../../support/waiting.js';
import { GatewayRig } from '../api/gateway-rig.js';
import { runHere } from './command-run.js';

const fixture = (name: string) =>
  readFileSync(new URL(`../../fixtures/sherpa/nemo-ctc/${name}`, import.meta.url));
const FILES = {
  'model.int8.onnx': fixture('model.onnx'),
  'tokens.txt': fixture('tokens.txt'),
};

const CONFIGURED = `# Tracked by git.
models:
  - { id: ears, kind: stt, engine: synthetic, aliases: [whisper-1, ears-1], capabilities: [transcribe] }
`;

describe('switchyard models starter', () => {
  let folder: string;
  let hub: HubServer;
  let rig: GatewayRig | undefined;
  beforeEach(async () => {
    folder = temporaryFolder();
    writeFileSync(join(folder, 'models.yaml'), CONFIGURED);
    hub = await HubServer.start({ files: FILES });
    const entry = (name: string, files: readonly string[], more = {}) => ({
      name,
      summary: `${name} of the test, small`,
      licence: 'CC0',
      aliases: ['whisper-1', 'gpt-4o-transcribe'],
      unverified: true,
      sources: {
        model: {
          from: 'hf:acme/tiny',
          files: Object.fromEntries(files.map(file => [file, {}])),
        },
      },
      entry: {
        kind: 'stt',
        engine: 'sherpa-onnx',
        capabilities: ['transcribe'],
        ...more,
        options: { modelDir: '{model}' },
      },
    });
    const catalogue = [
      entry('real', Object.keys(FILES)),
      entry('broken', ['tokens.txt']),
      entry('first', Object.keys(FILES), { stand_in: true }),
    ];
    writeFileSync(join(folder, 'catalogue.yaml'), stringify({ catalogue }));
  });
  afterEach(async () => {
    await rig?.close();
    await hub[Symbol.asyncDispose]();
    rig = undefined;
  });

  const run = (...args: string[]) =>
    runHere(['models', ...args], {
      HF_ENDPOINT: hub.url,
      SWITCHYARD_URL: rig?.url ?? 'http://127.0.0.1:1',
      SWITCHYARD_DATA_DIR: join(folder, 'data'),
      SWITCHYARD_HUB_CATALOGUE_FILE: join(folder, 'catalogue.yaml'),
      SWITCHYARD_HUB_MODELS_DIR: join(folder, 'models'),
      SWITCHYARD_WORKERS_MODELS_FILE: join(folder, 'models.yaml'),
    });

  async function startGateway(): Promise<GatewayRig> {
    rig = await GatewayRig.start({
      models: [],
      settings: {
        'workers.models_file': join(folder, 'models.yaml'),
        'data.dir': join(folder, 'data'),
      },
      launch: 'hosted',
    });
    await fetch(`${rig.url}/admin/v1/models/reload`, { method: 'POST' });
    return rig;
  }
  const holder = (name: string) =>
    rig!.app
      .get(ModelList, { strict: false })
      .current.find(({ id, aliases }) => [id, ...aliases].includes(name))?.id;
  const ask = async (model = 'whisper-1') =>
    (
      await rig!.post(
        '/v1/audio/transcriptions',
        formOf({ model }, pcmWav(Buffer.alloc(32_000), 16_000)),
      )
    ).status;
  const starters = () => join(folder, 'data', 'models.yaml');

  it('loads a model beside the stand-in, then moves the names to it; the configured file stays as it is', async () => {
    await startGateway();
    expect(holder('whisper-1')).toBe('ears');
    const running = run('starter', 'real', '--yes');
    const statuses: number[] = [];
    while (holder('whisper-1') === 'ears') statuses.push(await ask());
    statuses.push(await ask());
    expect(new Set(statuses)).toEqual(new Set([200]));
    const fetched = await running;
    expect(fetched.code).toBe(0);
    expect(fetched.stderr).toMatch(/licence: CC0[^]*model\.int8\.onnx/);
    expect(fetched.stderr).toContain(
      'whisper-1 is now real of the test (so are gpt-4o-transcribe)',
    );
    expect(['whisper-1', 'ears-1', 'ears'].map(holder)).toEqual(['real', 'ears', 'ears']);
    expect(readFileSync(join(folder, 'models.yaml'), 'utf8')).toBe(CONFIGURED);
    expect(readFileSync(starters(), 'utf8')).toContain('  - id: real');
    // Beside a batch, whoever tries it is answered first.
    expect(readFileSync(starters(), 'utf8')).toContain('default_priority: realtime');
    hub.seen.length = 0;
    expect(await run('starter', 'real', '--yes')).toMatchObject({ code: 0, stderr: '' });
    expect(hub.seen).toEqual([]);
    const removed = await run('remove', 'real', '--yes');
    expect([removed.code, removed.stderr]).toEqual([
      0,
      expect.not.stringContaining('these names now: whisper-1'),
    ]);
    expect(holder('whisper-1')).toBe('ears');
  }, 60_000);

  it('ends the workers of a stand-in that has lost all its names; a request for it loads it again', async () => {
    writeFileSync(join(folder, 'models.yaml'), CONFIGURED.replace(', ears-1', ''));
    const { pool } = await startGateway();
    expect(await ask('ears')).toBe(200);
    expect((await run('starter', 'real', '--yes')).code).toBe(0);
    await until(() => pool.of('ears')?.view().state === 'unloaded');
    expect(
      pool
        .of('ears')
        ?.view()
        .workers.map(({ pid }) => pid),
    ).toEqual([undefined]);
    expect(await ask('ears')).toBe(200);
  }, 60_000);

  it('one that stands in hands its names to the next, and is loaded on request from then on', async () => {
    const { pool } = await startGateway();
    expect((await run('starter', 'first', '--yes')).stderr).toContain('whisper-1 is now first');
    expect([holder('whisper-1'), pool.of('first')?.view().state]).toEqual(['first', 'loaded']);
    expect((await run('starter', 'first', 'real', '--yes')).stderr).toContain(
      'whisper-1 is now real',
    );
    expect(holder('whisper-1')).toBe('real');
    await until(() => pool.of('first')?.view().state === 'unloaded');
    expect(await ask('first')).toBe(200);
    // Nothing is fetched for a name that a larger model has.
    expect(await run('starter', 'first', 'real', '--yes')).toMatchObject({ code: 0, stderr: '' });
  }, 60_000);

  it('one that does not load is one line with the repair, and the stand-in keeps its names; the others arrive', async () => {
    await startGateway();
    const fetched = await run('starter', 'broken', 'real', '--yes');
    expect(fetched.code).toBe(1);
    expect(fetched.stderr).toMatch(/✗ broken: .*does not load: .*Then: .*models starter/);
    expect(fetched.stderr).toContain('whisper-1 is now real');
    expect(holder('broken')).toBeUndefined();
    expect(readFileSync(starters(), 'utf8')).not.toContain('broken');
  }, 60_000);

  it('the console sees what arrives, and stops one that waits', async () => {
    await startGateway();
    const additions = async (): Promise<{ name: string; state: string; lines: string[] }[]> => {
      const answer = await fetch(`${rig!.url}/admin/v1/catalogue/additions`);
      return ((await answer.json()) as { data: never[] }).data;
    };
    hub.script('tokens.txt', { kind: 'stall', bytes: 1 });
    const running = run('starter', 'broken', 'real', '--yes');
    await until(async () => (await additions()).length === 2);
    expect((await additions()).map(({ state }) => state)).toEqual(['running', 'running']);
    for (const name of ['real', 'broken'])
      await fetch(`${rig!.url}/admin/v1/catalogue/${name}/cancel`, { method: 'POST' });
    const { code, stderr } = await running;
    expect(code).toBe(1);
    expect(stderr).toMatch(/✗ broken: stopped on the console[^]*✗ real: stopped/);
    expect((await additions()).map(({ state }) => state)).toEqual(['cancelled', 'cancelled']);
    expect((await run('starter', 'real', '--yes')).code).toBe(0);
    const [newest] = await additions();
    expect(newest).toMatchObject({ name: 'real', state: 'added' });
    expect(newest!.lines.at(-1)).toContain('whisper-1 is now real');
  }, 60_000);

  it('without a gateway the next start reads it; a hub that is away changes nothing', async () => {
    hub.script('api', { kind: 'status', status: 500 });
    const away = await run('starter', 'real', '--yes');
    expect([away.code, away.stderr]).toEqual([
      1,
      expect.stringMatching(/✗ real: .*500.*Then: .*models starter/),
    ]);
    expect(existsSync(starters())).toBe(false);
    expect((await run('starter', 'real', '--yes')).code).toBe(0);
    await startGateway();
    expect(holder('gpt-4o-transcribe')).toBe('real');
  }, 60_000);

  it('names line and column of a models file that was edited by hand', async () => {
    expect((await run('starter', 'real', '--yes')).code).toBe(0);
    writeFileSync(starters(), 'models:\n  - { id: real, kind: sst }\n');
    const broken = await run('starter', 'real', '--yes');
    expect([broken.code, broken.stderr]).toEqual([2, expect.stringContaining(`${starters()}:2:`)]);
  });

  it('asks first, and fetches nothing where nobody can be asked', async () => {
    expect(await run('starter', 'real')).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/licence: CC0\n.*not a terminal; pass --yes/),
    });
    expect(hub.seen).toEqual([]);
  });
});

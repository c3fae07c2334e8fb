import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { stringify } from 'yaml';
import { Catalogue } from '../../../src/cli/models/catalogue/catalogue.js';
import { HubServer } from '../../support/hub-server.js';
import { llamaModel } from '../../support/llama-model.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { GatewayRig } from '../api/gateway-rig.js';
import { runHere } from './command-run.js';

const fixture = (path: string) => readFileSync(new URL(`../../fixtures/${path}`, import.meta.url));

const MODELS_YAML = `# Kept: head of the file.
models:
  # Kept: about the recogniser.
  - id: ears
    kind: stt
    engine: synthetic
    aliases: [whisper-1, gpt-4o-transcribe] # kept: beside the aliases
    capabilities: [transcribe]
`;

describe('switchyard models add', () => {
  let folder: string;
  let hub: HubServer | undefined;
  let rig: GatewayRig | undefined;
  beforeEach(() => {
    folder = temporaryFolder();
    writeFileSync(join(folder, 'models.yaml'), MODELS_YAML);
  });
  afterEach(async () => {
    await rig?.close();
    await hub?.[Symbol.asyncDispose]();
    rig = hub = undefined;
  });

  const modelsFile = () => readFileSync(join(folder, 'models.yaml'), 'utf8');
  const shelf = () =>
    readdirSync(folder).includes('shelf')
      ? readdirSync(join(folder, 'shelf'), { recursive: true })
      : [];

  /**
   * The hub serves these files as the repository of the entry, whose commit and sizes are
   * those of the real one.
   */
  async function offer(
    name: string,
    files: Readonly<Record<string, Buffer>>,
    facts: 'real' | 'unknown' = 'unknown',
  ) {
    const entry = Catalogue.load('').find(name);
    const { from, files: named } = Object.values(entry.sources)[0]!;
    const repository = from.slice('hf:'.length).split('@')[0]!;
    hub = await HubServer.start({ repository, files });
    if (facts === 'real') return;
    const unknown = Object.fromEntries(Object.keys(named).map(file => [file, {}]));
    const sources = { model: { from: `hf:${repository}`, files: unknown } };
    const own = { ...entry, sources, unverified: true };
    writeFileSync(join(folder, 'catalogue.yaml'), stringify({ catalogue: [own] }));
  }

  const run = (...args: string[]) => runWith({}, ...args);
  const runWith = (environment: Readonly<Record<string, string>>, ...args: string[]) =>
    runHere(['models', ...args], {
      HF_ENDPOINT: hub?.url ?? 'http://127.0.0.1:1',
      SWITCHYARD_URL: rig?.url ?? 'http://127.0.0.1:1',
      SWITCHYARD_DATA_DIR: join(folder, 'data'),
      SWITCHYARD_HUB_CATALOGUE_FILE: readdirSync(folder).includes('catalogue.yaml')
        ? join(folder, 'catalogue.yaml')
        : '',
      SWITCHYARD_HUB_MODELS_DIR: join(folder, 'shelf'),
      SWITCHYARD_WORKERS_MODELS_FILE: join(folder, 'models.yaml'),
      ...environment,
    });

  async function startGateway(): Promise<GatewayRig> {
    rig = await GatewayRig.start({
      models: [],
      settings: { 'workers.models_file': join(folder, 'models.yaml') },
      launch: 'hosted',
    });
    return rig;
  }

  const senseVoice = () => ({
    'model.int8.onnx': fixture('sherpa/nemo-ctc/model.onnx'),
    'tokens.txt': fixture('sherpa/nemo-ctc/tokens.txt'),
  });

  it.each([
    [
      'sherpa-onnx',
      'sense-voice-small',
      () => Promise.resolve(senseVoice()),
      /word errors [\d.]+ %/,
    ],
    [
      'llama-cpp, text',
      'qwen3-0.6b',
      async () => ({ 'Qwen3-0.6B-Q8_0.gguf': readFileSync(await llamaModel()) }),
      /\d of 5 questions \| \d+, \d+, \d+ tokens/,
    ],
    [
      'llama-cpp, vectors',
      'nomic-embed-text-v1.5',
      async () => ({
        'nomic-embed-text-v1.5.Q8_0.gguf': readFileSync(await llamaModel({ pooling: 'mean' })),
      }),
      /\d of 3 likenesses \| [\d.]+ texts/,
    ],
  ])(
    '%s: downloads, writes models.yaml, loads into the running gateway; verify measures it',
    async (_, name, files, row) => {
      await offer(name, await files());
      const gateway = await startGateway();
      const added = await run('add', name, '--yes', '--json');
      expect([added.code, added.stderr]).toEqual([0, expect.stringContaining(`${name}:`)]);
      expect(JSON.parse(added.stdout)).toMatchObject({
        models: [{ id: name, gateway: 'loaded' }],
      });
      expect(modelsFile()).toContain(`  # switchyard models add ${name}`);
      expect(((await gateway.json(`/v1/models/${name}`)) as { state: string }).state).toBe(
        'loaded',
      );
      const verified = await run('verify', name);
      expect([verified.code, verified.stdout]).toEqual([0, expect.stringMatching(row)]);
      const again = await run('add', name, '--yes');
      expect([again.code, again.stderr]).toEqual([0, expect.stringContaining('stays as it is')]);
      expect((await run('remove', name, '--yes')).code).toBe(0);
      expect([modelsFile().includes(name), shelf()]).toEqual([false, []]);
      expect((await fetch(`${gateway.url}/v1/models/${name}`)).status).toBe(404);
    },
    120_000,
  );

  it('keeps comments, moves aliases from a stand-in, says so; without a gateway the next start reads it', async () => {
    await offer('sense-voice-small', senseVoice());
    const added = await run('add', 'sense-voice-small', '--yes');
    expect([added.code, added.stderr]).toEqual([
      0,
      expect.stringContaining('whisper-1 moves from ears'),
    ]);
    expect(added.stderr).toContain('no gateway answers');
    for (const kept of ['head of the file', 'about the recogniser'])
      expect(modelsFile()).toContain(`# Kept: ${kept}`);
    expect(modelsFile()).toMatch(
      /id: sense-voice-small[^]*aliases: \[ ?whisper-1, gpt-4o-transcribe/,
    );
    expect(modelsFile().split('whisper-1')).toHaveLength(2);
    const manifest = JSON.parse(
      readFileSync(join(folder, 'shelf', String(shelf()[0]), 'switchyard-model.json'), 'utf8'),
    );
    expect(manifest).toMatchObject({ revision: 'c0ffee', complete: true });
    expect((await run('check')).code).toBe(0);
  });

  it('adds a server that runs elsewhere, and asks for its address', async () => {
    expect(await run('add', 'vllm', '--yes')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--upstream'),
    });
    const options = [
      '--upstream',
      'http://127.0.0.1:9/v1',
      '--upstream-model',
      'Qwen/Qwen3-8B',
      '--as',
      'qwen',
    ];
    expect((await run('add', 'vllm', '--yes', ...options)).code).toBe(0);
    expect(modelsFile()).toMatch(/id: qwen[^]*model: Qwen\/Qwen3-8B/);
  });

  it('offers to install an engine that is missing, and installs it first with --yes', async () => {
    // No Python: the installation ends at its first step.
    const PATH = join(process.execPath, '..');
    const asked = await runWith({ PATH }, 'add', 'whisper-small');
    expect([asked.code, asked.stderr]).toEqual([
      2,
      expect.stringMatching(
        /needs ctranslate2, which is not installed: .*not a terminal; pass --yes/s,
      ),
    ]);
    const installing = await runWith({ PATH }, 'add', 'whisper-small', '--yes');
    expect(installing.stderr).toContain('Python environment of CTranslate2, 0.5 GB');
    expect(installing.stderr).toContain('python3 is not found: Python 3.11');
    expect(modelsFile()).toBe(MODELS_YAML);
  });

  it('search filters, and an unknown name gets the closest ones', async () => {
    const found = JSON.parse(
      (await run('search', '--kind', 'tts', '--language', 'de', '--json')).stdout,
    );
    expect(found).toMatchObject({ models: [{ name: 'piper-de-thorsten' }] });
    const { models } = JSON.parse((await run('search', '--json')).stdout) as {
      models: { name: string; unavailable?: string }[];
    };
    const reasonOf = (name: string) => models.find(one => one.name === name)!.unavailable;
    expect([reasonOf('sense-voice-small'), reasonOf('whisper-small')]).toEqual([
      undefined,
      expect.stringContaining('needs ctranslate2, which is not installed: '),
    ]);
    const unknown = await run('add', 'qwen3-9b');
    expect([unknown.code, unknown.stderr]).toEqual([
      2,
      expect.stringMatching(/no qwen3-9b; closest: qwen3-[48]b/),
    ]);
  });

  describe('leaves models.yaml as it was', () => {
    const FILES = {
      'model.int8.onnx': Buffer.from('model'),
      'tokens.txt': Buffer.from('tokens'),
    };
    afterEach(() => expect(modelsFile()).toBe(MODELS_YAML));

    it('when the repository has other files than the catalogue names', async () => {
      await offer('sense-voice-small', FILES, 'real');
      const added = await run('add', 'sense-voice-small', '--yes');
      expect([added.code, added.stderr]).toEqual([
        1,
        expect.stringContaining('another model.int8.onnx than'),
      ]);
      expect(shelf()).toEqual([]);
    });

    it('when a download is damaged, and no file gets its name', async () => {
      await offer('sense-voice-small', FILES);
      hub!.script('model.int8.onnx', { kind: 'body', body: Buffer.from('mdoel') });
      const damaged = await run('add', 'sense-voice-small', '--yes');
      expect([damaged.code, damaged.stderr]).toEqual([1, expect.stringContaining('damaged')]);
      expect(shelf().some(name => String(name).endsWith('model.int8.onnx'))).toBe(false);
    });

    it('when the hub is away', async () => {
      expect(await run('add', 'qwen3-0.6b', '--yes')).toMatchObject({
        ...{ code: 3, stderr: expect.stringContaining('cannot be reached') },
      });
    });

    it('when nobody can be asked, and when an option fits no model', async () => {
      await offer('sense-voice-small', FILES);
      expect((await run('add', 'sense-voice-small')).code).toBe(2);
      expect(await run('add', 'qwen3-0.6b', '--device', 'tpu')).toMatchObject({
        ...{ code: 2, stderr: expect.stringContaining('it has cpu, cuda, vulkan') },
      });
    });
  });
});

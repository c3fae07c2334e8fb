import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { type ModelSpec } from '../../src/platform/config/model-spec.js';
import { freePort } from '../support/free-port.js';
import { GatewayProcess } from '../support/gateway-process.js';
import { fetchRealModels, PUBLISHED_MODELS } from '../support/real-models.js';
import { syntheticModel } from '../support/synthetic-model.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { atLeast, type BenchGoal, type BenchResult, progress } from './support/bench-result.js';
import { quartiles } from './support/percentiles.js';

const THREADS = 2;
/** A slow machine is no failure here. */
const SETTINGS = {
  'inference.timeout_min_ms': 600_000,
  'queue.timeout_ms': 600_000,
} as const;
const TESTS = resolve('workers/python/tests');

/** By way, one for each round. */
type Series = Readonly<Record<string, readonly number[]>>;

interface Measured {
  /** Audio seconds per second. */
  readonly rates: Series;
  /** Peak of resident memory of the processes that do the work, in a turn. */
  readonly rssMib: Series;
  /** Of each way, how many texts are those that most ways found. */
  readonly texts: Readonly<Record<string, { readonly compared: number; readonly equal: number }>>;
  readonly versions: readonly string[];
  /**
   * Of eight callers, round by round: the sizes of the engine calls that their first
   * eight answers came from.
   */
  readonly groups: Readonly<Record<string, readonly (readonly number[])[]>>;
  /** Peers that cannot be had, with the reason. */
  readonly leftOut: Readonly<Record<string, string>>;
}

/** [goal, way, the way it is compared with, aim] */
const GOALS = [
  [
    'ctranslate2, 8 callers / own batches of 8',
    'gateway ctranslate2, 8 callers',
    'ctranslate2 batches of 8',
    0.95,
  ],
  [
    'ctranslate2, 8 callers / faster-whisper batches of 8',
    'gateway ctranslate2, 8 callers',
    'faster-whisper batches of 8',
    1,
  ],
  [
    'gain of ctranslate2, 32 callers / its own',
    'gateway ctranslate2, 32 callers',
    'ctranslate2 batches of 8',
    0.9,
  ],
] as const;

/**
 * What do callers of Whisper get through the gateway, compared with the same weights in
 * other libraries? The loop over the ways is in Python, where the peers are:
 * workers/python/tests/bench_whisper.py.
 */
export async function run(): Promise<BenchResult> {
  await using stack = new AsyncDisposableStack();
  const folder = temporaryFolder();
  const { path, more, environment: speech } = await weights(folder);
  Object.assign(process.env, speech);
  const address = `127.0.0.1:${await freePort()}`;
  const worker = stack.use(
    pythonWorker(['--model', 'ctranslate2', '--listen', address, '--path', path, ...more]),
  );
  const gateway = stack.use(await GatewayProcess.start([model(address)], SETTINGS, { folder }));
  const pids = { 'gateway-pid': gateway.process.child.pid, 'worker-pid': worker.pid };
  const { rates, rssMib, leftOut, ...others } = await measured(gateway, {
    path,
    ...pids,
    ...(more[1] && { 'compute-type': more[1] }),
  });
  for (const [peer, why] of Object.entries(leftOut)) progress(`  left out: ${peer} (${why})`);
  const results = {
    audioSecondsPerS: perWay(rates),
    rssMib: perWay(rssMib),
    ...others,
    leftOut,
  };
  return {
    results: { model: basename(path), threads: THREADS, ...results },
    goals: [...goalsOf(rates), ...groupGoals(others.groups)],
  };
}

interface Weights {
  readonly path: string;
  /** Arguments of worker and peers. */
  readonly more: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
}

/** Whisper base in 8 bits and human speech; where they cannot be fetched, random ones. */
async function weights(folder: string): Promise<Weights> {
  const { real, name, present } = await fetchRealModels();
  if (present) {
    const speech = join(folder, 'speech.wav');
    await writeFile(speech, await real.speech('moonshine_voice/assets/two_cities.wav'));
    return {
      path: join(PUBLISHED_MODELS, 'faster-whisper-base'),
      more: ['--compute-type', 'int8_float32'],
      environment: { BENCH_SPEECH: speech },
    };
  }
  progress(`  a model of the shape of Whisper base, random weights: ${name}`);
  await python(['whisper_models.py', folder, 'random-base']);
  return { path: join(folder, 'random-base'), more: [], environment: {} };
}

const perWay = (series: Series): object =>
  Object.fromEntries(Object.entries(series).map(([way, values]) => [way, quartiles(values)]));

/** The name of an engine is only a word here: the worker runs elsewhere. */
const model = (address: string): ModelSpec =>
  syntheticModel(
    {},
    {
      ...{ id: 'ctranslate2', replicas: 0, addresses: [address] },
      capabilities: ['transcribe', 'temperature'],
    },
  );

async function measured({ port }: GatewayProcess, options: object): Promise<Measured> {
  const { BENCH_ROUNDS: rounds, BENCH_CLIPS: clips } = process.env;
  const ids = { ctranslate2: 'ctranslate2', threads: THREADS };
  const all = { ...options, ...ids, url: `http://127.0.0.1:${port}`, rounds, clips };
  const given = Object.entries(all).filter(([, value]) => value !== undefined);
  const lines = await python([
    'bench_whisper.py',
    ...given.flatMap(([name, value]) => [`--${name}`, String(value)]),
  ]);
  return JSON.parse(lines.trimEnd().split('\n').at(-1)!) as Measured;
}

/** Round by round, because a slow minute hits both. */
function goalsOf(rates: Series): BenchGoal[] {
  return GOALS.flatMap(([name, way, other, aim]) => {
    const [ours, theirs] = [rates[way], rates[other]];
    if (!ours || !theirs) return [];
    return [atLeast(name, quartiles(ours.map((rate, round) => rate / theirs[round]!)).p50, aim)];
  });
}

/** Eight uploads at once are one group of 8, in the median round. */
const groupGoals = (groups: Measured['groups']): BenchGoal[] =>
  Object.entries(groups).map(([way, rounds]) =>
    atLeast(`${way}: of the first 8, in a call of 8`, quartiles(rounds.map(together)).p50, 8),
  );

const together = (sizes: readonly number[]): number => sizes.filter(size => size === 8).length;

const interpreter = (): string => process.env.WHISPER_PYTHON ?? 'python3';

const environment = (): NodeJS.ProcessEnv => ({
  ...process.env,
  PYTHONPATH: resolve('workers/python/src'),
});

/** Its standard output. Progress goes to standard error. @throws Error when it fails */
async function python([script, ...args]: readonly string[]): Promise<string> {
  const child = spawn(interpreter(), ['-B', join(TESTS, script!), ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: environment(),
  });
  let output = '';
  child.stdout.on('data', (text: Buffer) => (output += text.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0) throw new Error(`${script} ended with ${code}`);
  return output;
}

function pythonWorker(
  args: readonly string[],
): AsyncDisposable & { readonly pid: number | undefined } {
  const fixed = [
    '-B',
    '-m',
    'switchyard_worker.ctranslate2',
    '--threads',
    String(THREADS),
    '--temperatures',
    '0',
  ];
  const child = spawn(interpreter(), [...fixed, ...args, '--log-level', 'warning'], {
    stdio: ['ignore', 2, 2],
    env: environment(),
  });
  return {
    pid: child.pid,
    [Symbol.asyncDispose]: async () => {
      if (child.exitCode !== null) return;
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    },
  };
}

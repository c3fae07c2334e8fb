import { execFileSync } from 'node:child_process';
import { type ModelSpec } from '../../src/platform/config/model-spec.js';
import { GatewayProcess } from '../support/gateway-process.js';
import { processTree } from '../support/process-tree.js';
import { fetchFirstModels } from '../support/real-models.js';
import { syntheticModel } from '../support/synthetic-model.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { pause } from '../support/waiting.js';
import { atMost, type BenchResult, progress } from './support/bench-result.js';
import { median, rounded } from './support/percentiles.js';
import { childrenCpuMs, processCpuMs } from './support/process-cpu.js';
import { memoryMib } from './support/process-memory.js';

/** After the start: by then every process has given back what its start left behind. */
const SETTLE_MS = 40_000;
const MEASURE_MS = 60_000;
/** By then all processes of a gateway have started, and none has done anything else. */
const START_MS = 5000;
const STARTS = 5;
const GATEWAY = 'switchyard gateway';
const PROCESSOR = 'switchyard batch';
const WORKER = 'switchyard worker';

/** Of one process, or of all together. */
interface AtRest {
  /** Percent of a core. */
  readonly cpuPercent: number;
  readonly privateMib: number;
  readonly pssMib: number;
}

/**
 * What does a server cost that is asked nothing? Gateway, batch processor and workers,
 * without a single request.
 */
export async function run(): Promise<BenchResult> {
  const proxies = await measure('two openai-http models', ['a', 'b'].map(upstreamModel));
  const synthetic = await measure('two synthetic models', ['c', 'd'].map(syntheticModelOf));
  const first = await fetchFirstModels();
  if (!first.present) throw new Error(`This bench needs ${first.name}`);
  const speech = await measure('Moonshine and a Piper voice', first.models);
  const largest = (name: string): number => {
    const ofIt = synthetic.processes.filter(({ process }) => process === name);
    if (ofIt.length === 0) throw new Error(`there was no ${name}`);
    return Math.max(...ofIt.map(({ privateMib }) => privateMib));
  };
  const starts = await startCpu();
  const goals = [
    atMost('CPU at rest, two openai-http models, % of a core', proxies.all.cpuPercent, 0.3),
    atMost('private memory at rest, two openai-http models, MiB', proxies.all.privateMib, 160),
    atMost('private memory at rest of a gateway, MiB', largest(GATEWAY), 80),
    atMost('private memory at rest of a synthetic worker, MiB', largest(WORKER), 45),
    atMost('CPU at rest, Moonshine and a Piper voice, % of a core', speech.all.cpuPercent, 0.3),
    atMost('CPU of a start of a gateway, s', starts.gatewayS, 1.1),
    atMost('CPU of a start of a synthetic worker, s', starts.workerS, 0.57),
    atMost('CPU of a start of a batch processor, s', starts.processorS, 0.44),
    atMost('CPU of switchyard --version, s', starts.versionS, 0.15),
  ];
  return { results: { proxies, synthetic, speech, starts }, goals };
}

/** The middle of five of each, seconds. */
async function startCpu() {
  const rounds: { readonly cpu: ReadonlyMap<string, number>; readonly versionS: number }[] = [];
  for (let round = 0; round < STARTS; round++) {
    await using gateway = await startGateway([syntheticModelOf('e')], temporaryFolder());
    await pause(START_MS);
    const tree = processTree(gateway.process.child.pid);
    const cpu = new Map(
      tree.map(({ pid, command }) => [nameOf(command), processCpuMs(pid) / 1000]),
    );
    const beforeMs = childrenCpuMs();
    execFileSync(process.execPath, ['dist/main.cli.js', '--version']);
    rounds.push({ cpu, versionS: (childrenCpuMs() - beforeMs) / 1000 });
  }
  const of = (name: string): number => median(rounds.map(({ cpu }) => cpu.get(name)!));
  return {
    gatewayS: of(GATEWAY),
    workerS: of(WORKER),
    processorS: of(PROCESSOR),
    versionS: median(rounds.map(({ versionS }) => versionS)),
  };
}

/** Without the model of a worker. */
const nameOf = (command: string): string =>
  /^switchyard \w+|orphan-guard/.exec(command)?.[0] ?? command;

const syntheticModelOf = (id: string): ModelSpec => syntheticModel({}, { id });

/** Its server is not asked for anything. */
const upstreamModel = (id: string): ModelSpec =>
  syntheticModel(
    { baseUrl: 'http://127.0.0.1:9/v1', model: id, maxConcurrent: 32 },
    { id, kind: 'llm', engine: 'openai-http', capabilities: ['chat', 'completions'] },
  );

async function measure(name: string, models: readonly ModelSpec[]) {
  const folder = temporaryFolder();
  const processes = await processesAtRest(models, folder);
  const sum = (pick: (one: AtRest) => number): number =>
    rounded(processes.reduce((total, one) => total + pick(one), 0));
  const all: AtRest = {
    cpuPercent: sum(one => one.cpuPercent),
    privateMib: sum(one => one.privateMib),
    pssMib: sum(one => one.pssMib),
  };
  progress(`  ${name}: ${all.cpuPercent} % of a core, ${all.privateMib} MiB private`);
  return { all, processes };
}

/** Upstreams of its models are not there, so that it does not get ready. */
const startGateway = (models: readonly ModelSpec[], folder: string): Promise<GatewayProcess> =>
  GatewayProcess.start(models, { 'batch.embedded': 'true' }, { folder, until: 'live' });

async function processesAtRest(models: readonly ModelSpec[], folder: string) {
  await using gateway = await startGateway(models, folder);
  await pause(SETTLE_MS);
  const processes = processTree(gateway.process.child.pid);
  const before = processes.map(({ pid }) => processCpuMs(pid));
  await pause(MEASURE_MS);
  return processes.map(({ pid, command }, at) => {
    const memory = memoryMib(pid);
    return {
      process: nameOf(command),
      cpuPercent: rounded(((processCpuMs(pid) - (before[at] ?? 0)) / MEASURE_MS) * 100),
      privateMib: rounded(memory.private),
      pssMib: rounded(memory.pss),
    };
  });
}

import { type ModelSpec } from '../../src/platform/config/model-spec.js';
import { GatewayProcess } from '../support/gateway-process.js';
import { processTree } from '../support/process-tree.js';
import { fetchFirstModels } from '../support/real-models.js';
import { syntheticModel } from '../support/synthetic-model.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { pause } from '../support/waiting.js';
import { atMost, type BenchResult, progress } from './support/bench-result.js';
import { rounded } from './support/percentiles.js';
import { processCpuMs } from './support/process-cpu.js';
import { memoryMib } from './support/process-memory.js';

/** After the start: by then every process has given back what its start left behind. */
const SETTLE_MS = 40_000;
const MEASURE_MS = 60_000;

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
  const largest = (name: string): number =>
    Math.max(...synthetic.processes.filter(isOf(name)).map(({ privateMib }) => privateMib));
  const goals = [
    atMost('CPU at rest, two openai-http models, % of a core', proxies.all.cpuPercent, 0.3),
    atMost('private memory at rest, two openai-http models, MiB', proxies.all.privateMib, 160),
    atMost('private memory at rest of a gateway, MiB', largest('main.gateway'), 80),
    atMost('private memory at rest of a synthetic worker, MiB', largest('main.worker'), 45),
    atMost('CPU at rest, Moonshine and a Piper voice, % of a core', speech.all.cpuPercent, 0.3),
  ];
  return { results: { proxies, synthetic, speech }, goals };
}

const isOf =
  (name: string) =>
  ({ process }: { readonly process: string }): boolean =>
    process === name;

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

async function processesAtRest(models: readonly ModelSpec[], folder: string) {
  await using gateway = await GatewayProcess.start(
    models,
    { 'batch.embedded': 'true' },
    // Its upstreams are not there, so that it does not get ready.
    { folder, until: 'live' },
  );
  await pause(SETTLE_MS);
  const processes = processTree(gateway.process.child.pid);
  const before = processes.map(({ pid }) => processCpuMs(pid));
  await pause(MEASURE_MS);
  return processes.map(({ pid, command }, at) => {
    const memory = memoryMib(pid);
    return {
      process: /main\.\w+|orphan-guard/.exec(command)?.[0] ?? command,
      cpuPercent: rounded(((processCpuMs(pid) - (before[at] ?? 0)) / MEASURE_MS) * 100),
      privateMib: rounded(memory.private),
      pssMib: rounded(memory.pss),
    };
  });
}

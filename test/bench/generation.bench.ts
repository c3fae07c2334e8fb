import { mkdtemp } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { ENGINE_DEVICE } from '../support/engine-device.js';
import { GatewayProcess } from '../support/gateway-process.js';
import { llamaModel } from '../support/llama-model.js';
import { fetchRealModels } from '../support/real-models.js';
import { syntheticModel } from '../support/synthetic-model.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { pause } from '../support/waiting.js';
import { atLeast, type BenchResult, progress } from './support/bench-result.js';
import { Contender, inTurns } from './support/contender.js';
import { type ServerShape } from './support/llama-server.js';
import { compareMemories } from './support/memory-comparison.js';
import { comparePauses } from './support/pause-comparison.js';
import {
  compareAnswers,
  kernelsOf,
  peerGoals,
  ratioTo,
  startPeers,
  told,
} from './support/peer-comparison.js';
import { median, rounded } from './support/percentiles.js';
import { type TextServer, throughput } from './support/text-load.js';

const model = 'llama';
const CALLER = { promptLength: 48, maxTokens: 48 };
/** Every order of three servers. */
const ROUNDS = 6;
/** Two seconds to seven of each. */
const LOADS = [
  { callers: 1, requests: 4 },
  { callers: 8, requests: 16 },
  { callers: 32, requests: 32 },
] as const;
/** A probe a second: who is not asked leaves the machine to who is. */
const PROBE_MS = 1000;
const SETTINGS = { 'workers.health_interval_ms': PROBE_MS } as const;
/** Longer than any bench: a step takes whole prompts. */
const UNCHUNKED_MS = 3_600_000;

/**
 * How much do sequences gain by going through the model together, and what do long
 * prompts cost those who read?
 */
export async function run(): Promise<BenchResult> {
  const folder = temporaryFolder();
  // Where SmolLM2 cannot be fetched; what a step takes is the model, not the machinery
  // around it.
  const large = { width: 1024, layers: 6, heads: 16, keyHeads: 8, feedForward: 3072 };
  const small = { width: 512, layers: 4, heads: 8, keyHeads: 4, feedForward: 1536 };
  const shape = { rows: 32, contextTokens: 1024, stepTokens: 512 };
  const rates = await together(
    { ...shape, modelFile: (await publishedFile()) ?? (await llamaModel(large)) },
    folder,
  );
  const pauses = await underLongPrompts({ ...shape, modelFile: await llamaModel(small) }, folder);
  const memory = await onHalfTheMemory({ ...shape, modelFile: await llamaModel(small) }, folder);
  const results = { ...rates.results, mixed: pauses.results, memory: memory.results };
  return { results, goals: [...rates.goals, ...pauses.goals, ...memory.goals] };
}

async function publishedFile(): Promise<string | undefined> {
  const { real, name, present } = await fetchRealModels();
  if (!present) progress(`  generated weights: ${name}`);
  const options = real.models.find(({ engine }) => engine === 'llama-cpp')?.options;
  return options?.modelFile as string | undefined;
}

async function together(shape: ServerShape, folder: string): Promise<BenchResult> {
  await using stack = new AsyncDisposableStack();
  // As the peer does, which knows no target: what that one costs and brings is the other
  // half of this bench.
  const gateway = stack.use(await start(shape, UNCHUNKED_MS, folder));
  const own = new Contender('own', serverOf(gateway), gateway.process.child.pid);
  // The engine's process chooses its kernels when it loads the model.
  await throughput(own.server, 8, 8, CALLER);
  const kernels = kernelsOf(gateway);
  const binary = process.env.LLAMA_SERVER;
  const peers = binary ? await startPeers(binary, shape, { own, kernels, stack }) : [];
  const all = [own, ...peers];
  for (const one of all) await throughput(one.server, 32, 64, CALLER);
  const answers = peers[0] && (await compareAnswers(own, peers[0], CALLER));
  const idle: Record<string, number> = {};
  for (const one of peers.length > 0 ? all : []) idle[one.name] = await one.idleCpuShare(2000);
  await inTurns(all, { rounds: ROUNDS, loads: LOADS, caller: CALLER });
  // The last probe of the worker tells all that it did.
  await pause(2 * PROBE_MS);
  const scrape = await gateway.scrape();
  const steps = {
    steps: scrape.sum('llm_steps_total'),
    decodeCalls: scrape.sum('llm_decode_calls_total'),
  };
  const to1 = (callers: number): number =>
    median(own.rates(callers).map((rate, round) => rate / own.rates(1)[round]!));
  const results = {
    ...{
      model: basename(shape.modelFile),
      kernels: kernels && told(kernels),
      rounds: ROUNDS,
      own: figuresOf(own),
      ratioTo1: perLoad(to1),
      steps,
    },
    ...(answers && { answers, idleCpuShare: idle }),
    ...Object.fromEntries(
      peers.map(peer => [
        peer.name,
        { ...figuresOf(peer), ratio: perLoad(callers => ratioTo(peer, own, callers)) },
      ]),
    ),
  };
  const goals = [
    atLeast('tokens/s of 8 callers / of 1', to1(8), 1.5),
    atLeast('tokens/s of 32 callers / of 1', to1(32), 2),
    atLeast('steps / native decode calls', steps.steps / steps.decodeCalls, 1),
    ...peerGoals(
      own,
      peers,
      LOADS.map(({ callers }) => callers),
    ),
  ];
  return { results, goals };
}

const perLoad = <T>(of: (callers: number) => T): Record<number, T> =>
  Object.fromEntries(LOADS.map(({ callers }) => [callers, of(callers)]));

const figuresOf = (one: Contender): object => ({
  tokensPerS: perLoad(callers => rounded(median(one.rates(callers)))),
  cpuMsPerToken: perLoad(callers => one.cpuMsPerToken(callers)),
  callersCpuMsPerToken: perLoad(callers => one.callersCpuMsPerToken(callers)),
  rssMib: one.rssMib,
});

async function underLongPrompts(shape: ServerShape, folder: string): Promise<BenchResult> {
  await using chunked = await start(shape, 50, folder);
  await using whole = await start(shape, UNCHUNKED_MS, folder);
  const servers = { chunked: serverOf(chunked), whole: serverOf(whole) };
  for (const server of Object.values(servers)) await throughput(server, 4, 4, CALLER);
  return await comparePauses(servers);
}

async function onHalfTheMemory(shape: ServerShape, folder: string): Promise<BenchResult> {
  await using full = await start(shape, UNCHUNKED_MS, folder);
  await using half = await start(
    { ...shape, kvTokens: (shape.rows * shape.contextTokens) / 2 },
    UNCHUNKED_MS,
    folder,
  );
  return await compareMemories({ full: serverOf(full), half: serverOf(half) }, CALLER);
}

const serverOf = ({ port }: GatewayProcess): TextServer => ({
  url: `http://127.0.0.1:${port}`,
  model,
});

async function start(
  shape: ServerShape & { readonly kvTokens?: number },
  stepTargetMs: number,
  folder: string,
): Promise<GatewayProcess> {
  const options = { ...shape, stepTargetMs, device: ENGINE_DEVICE };
  const spec = {
    id: model,
    kind: 'llm',
    engine: 'llama-cpp',
    capabilities: ['completions'],
  } as const;
  const own = await mkdtemp(join(folder, 'gateway-'));
  return GatewayProcess.start([syntheticModel(options, spec)], SETTINGS, {
    folder: own,
  });
}

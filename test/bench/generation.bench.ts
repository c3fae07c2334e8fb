import { mkdtemp, rm } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { GatewayProcess } from '../support/gateway-process.js';
import { llamaModel } from '../support/llama-model.js';
import { syntheticModel } from '../support/synthetic-model.js';
import { pause } from '../support/waiting.js';
import { atLeast, atMost, type BenchGoal, type BenchResult, progress } from './support/bench-result.js';
import { type ServerShape } from './support/llama-server.js';
import { besidePeer } from './support/peer-comparison.js';
import { median, rounded } from './support/percentiles.js';
import { mixed, type TextServer, throughput } from './support/text-load.js';

const model = 'llama';
const CALLER = { promptLength: 48, maxTokens: 48 };
const ROUNDS = 2;
const PEER_ROUNDS = 3;
const CONCURRENT = [1, 8, 32] as const;
const MIXED = { short: { promptLength: 16, maxTokens: 40 }, long: { promptLength: 700, maxTokens: 4 }, rounds: 6 };
const SETTINGS = { 'workers.health_interval_ms': 200 } as const;
/** Longer than any bench: a step takes whole prompts. */
const UNCHUNKED_MS = 3_600_000;

type Rates = Record<(typeof CONCURRENT)[number], number[]>;

/** How much do sequences gain by going through the model together, and what do long prompts cost those who read? */
export async function run(): Promise<BenchResult> {
  const folder = await mkdtemp(join(tmpdir(), 'switchyard-bench-'));
  // 52 MB of weights: what a step takes is the model, not the machinery around it.
  const modelFile = await llamaModel({ width: 512, layers: 4, heads: 8, keyHeads: 4, feedForward: 1536 });
  const threads = Math.max(1, Math.floor(availableParallelism() / 2));
  const shape = { modelFile, rows: 32, contextTokens: 1024, stepTokens: 512, threads };
  try {
    const { own, steps, peer } = await together(shape, folder);
    const chunked = await beside(shape, 50, folder);
    const unchunked = await beside(shape, UNCHUNKED_MS, folder);
    progress(`  gaps under long prompts, p99 ms: ${chunked.gapMs.p99} in chunks, ${unchunked.gapMs.p99} whole`);
    const rate = (callers: (typeof CONCURRENT)[number]): number => median(own[callers]);
    const results = {
      tokensPerS: Object.fromEntries(CONCURRENT.map(callers => [callers, rounded(rate(callers))])),
      ratioTo1: Object.fromEntries(CONCURRENT.map(callers => [callers, rounded(rate(callers) / rate(1))])),
      steps,
      mixed: { chunked, unchunked },
      ...(peer && { llamaServer: peer.results }),
    };
    const goals: BenchGoal[] = [
      atLeast('tokens/s of 8 callers / of 1', rate(8) / rate(1), 2),
      atLeast('tokens/s of 32 callers / of 1', rate(32) / rate(1), 2.5),
      atLeast('steps / native decode calls', steps.steps / steps.decodeCalls, 1),
      atMost('gap p99 under long prompts, in chunks / whole', chunked.gapMs.p99 / unchunked.gapMs.p99, 0.8),
      ...(peer?.goals ?? []),
    ];
    return { results, goals };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function together(shape: ServerShape, folder: string) {
  await using gateway = await start(shape, 50, folder);
  const own: Rates = { 1: [], 8: [], 32: [] };
  await throughput(serverOf(gateway), 8, 8, CALLER);
  for (let round = 0; round < ROUNDS; round++) {
    for (const callers of CONCURRENT) {
      own[callers].push(await throughput(serverOf(gateway), callers, callers * 2, CALLER));
      progress(`  ${callers} callers: ${Math.round(own[callers].at(-1)!)} tokens/s`);
    }
  }
  // The last probe of the worker tells all that it did.
  await pause(1000);
  const scrape = await gateway.scrape();
  const steps = { steps: scrape.sum('llm_steps_total'), decodeCalls: scrape.sum('llm_decode_calls_total') };
  const binary = process.env.LLAMA_SERVER;
  if (!binary) return { own, steps, peer: undefined };
  const options = { binary, shape, gateway, own: serverOf(gateway), caller: CALLER, concurrent: CONCURRENT };
  return { own, steps, peer: await besidePeer({ ...options, rounds: PEER_ROUNDS }) };
}

async function beside(shape: ServerShape, stepTargetMs: number, folder: string) {
  await using gateway = await start(shape, stepTargetMs, folder);
  await throughput(serverOf(gateway), 4, 4, CALLER);
  // Awaited: the gateway is closed when this returns.
  return await mixed(serverOf(gateway), MIXED);
}

const serverOf = ({ port }: GatewayProcess): TextServer => ({ url: `http://127.0.0.1:${port}`, model });

async function start(shape: ServerShape, stepTargetMs: number, folder: string): Promise<GatewayProcess> {
  const options = { ...shape, stepTargetMs, device: 'cpu' };
  const spec = { id: model, kind: 'llm', engine: 'llama-cpp', capabilities: ['completions'] } as const;
  return GatewayProcess.start([syntheticModel(options, spec)], SETTINGS, { folder });
}

import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { addApiKey } from '../../src/platform/auth/keys-file.js';
import { transcriptionRequest } from '../support/http-request.js';
import { Product } from '../support/product.js';
import { syntheticModel } from '../support/synthetic-model.js';
import { pause } from '../support/waiting.js';
import { atLeast, atMost, type BenchResult, progress } from './support/bench-result.js';
import { LoadProcess } from './support/load-process.js';
import { distribution, type Distribution } from './support/percentiles.js';

const SERVICE_MS = 200;
const GROUP = 4;
const REPLICAS = 2;
/** B's load: 0.4 of what one replica can do, so that one replica alone still suffices. */
const B_PER_S = 0.4 * (GROUP / (SERVICE_MS / 1000));
const POISON_EVERY_MS = 10_000;
const TURN_MS = 40_000;
const ROUNDS = 3;
const MARKER = 'deadly';

/**
 * Does a tenant notice that another one sends, every ten seconds, an input that ends the
 * engine? B alone and B beside A, in turns, on two replicas.
 */
export async function run(): Promise<BenchResult> {
  const keysFile = join(await mkdtemp(join(tmpdir(), 'switchyard-bench-')), 'keys.yaml');
  const keyOf = (tenant: string): string =>
    addApiKey(keysFile, { tenant, scopes: ['inference'] }).key;
  const [a, b] = [keyOf('a'), keyOf('b')];
  const faults = [{ marker: MARKER, action: 'crash' }];
  const options = { baseMs: SERVICE_MS, maxBatch: GROUP, faults };
  await using product = await Product.start([syntheticModel(options, { replicas: REPLICAS })], {
    'auth.keys_file': keysFile,
  });
  await using load = new LoadProcess();
  const turn = async (): Promise<Distribution> => {
    const { latencyMs } = await load.run({
      port: product.gateway.port,
      request: transcriptionRequest({ model: 'synthetic', priority: 'batch', apiKey: b }),
      arrivals: { kind: 'poisson', ratePerS: B_PER_S },
      warmupMs: 2_000,
      durationMs: TURN_MS,
    });
    return latencyMs;
  };
  const rounds: { readonly alone: Distribution; readonly beside: Distribution }[] = [];
  const poisons: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const alone = await turn();
    const sent = new AbortController();
    const sending = sendPoison(product, a, sent.signal);
    const beside = await turn();
    sent.abort();
    poisons.push(...(await sending));
    rounds.push({ alone, beside });
    progress(`  B's p99 alone ${alone.p99} ms, beside A ${beside.p99} ms`);
  }
  const ratios = rounds.map(({ alone, beside }) => beside.p99 / alone.p99);
  return {
    results: { rounds, poisons },
    goals: [
      atMost("B's p99 beside A / alone, median of the rounds", distribution(ratios).p50, 2),
      atLeast('inputs that ended the engine', poisons.filter(status => status === 500).length, 10),
    ],
  };
}

/** Other bytes each time: the same ones are refused before they reach an engine. */
async function sendPoison(product: Product, key: string, signal: AbortSignal): Promise<number[]> {
  const sent: Promise<number>[] = [];
  for (let index = 0; !signal.aborted; index++) {
    const text = `${MARKER} ${performance.now()} ${index}`;
    sent.push(product.transcribe(text, { key }).then(({ status }) => status));
    await pause(POISON_EVERY_MS);
  }
  return Promise.all(sent);
}

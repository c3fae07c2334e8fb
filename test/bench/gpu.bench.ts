import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { checkGpu } from '../../src/cli/models/engines/gpu.js';
import { atMost, type BenchResult, progress } from './support/bench-result.js';

const PAGE = 'data/gpu-bench.md';

interface Suite {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

/**
 * Do the engines keep their contracts on the GPU of this machine, and what do several
 * requests gain there?
 */
export async function run(): Promise<BenchResult> {
  const { ok, gpus, checks } = await checkGpu();
  const found = checks.map(({ what, state, detail }) => `${what}: ${state}, ${detail}`);
  if (gpus.length === 0)
    return finish({
      results: { device: 'none: this machine has no usable GPU', found },
      goals: [],
    });
  // Read when the modules below are loaded, and by the processes that they start.
  process.env.ENGINE_DEVICE = 'cuda';
  progress(`contracts and generation on ${gpus.join('; ')}`);
  const contracts = await engineContracts();
  const generation = await (await import('./generation.bench.js')).run();
  return finish({
    results: {
      device: gpus,
      usable: ok,
      found,
      contracts,
      generation: generation.results,
    },
    goals: [atMost('engine contract tests that fail', contracts.failed, 0), ...generation.goals],
  });
}

/** As `npm test` runs them; llama-cpp computes on the device. */
async function engineContracts(): Promise<Suite> {
  const file = pathToFileURL(resolve('scripts/test-suite.mjs')).href;
  const { runSuite } = (await import(file)) as {
    runSuite(paths: readonly string[], flags: readonly string[]): Promise<Suite>;
  };
  const { passed, failed, skipped } = await runSuite(['test/contract/engines'], ['--runInBand']);
  return { passed, failed, skipped };
}

async function finish(result: BenchResult): Promise<BenchResult> {
  const { results, goals } = result;
  const rows = goals.map(
    ({ name, value, aim, met }) => `| ${name} | ${value} | ${aim} | ${met ? 'yes' : 'no'} |`,
  );
  const table =
    goals.length > 0 ? ['| goal | value | aim | met |', '|---|---|---|---|', ...rows, ''] : [];
  const found = (results.found as readonly string[]).map(line => `- ${line}`);
  const page = [
    '# Engines on the GPU',
    '',
    ...found,
    '',
    ...table,
    '```json',
    JSON.stringify(result),
    '```',
    '',
  ];
  const path = resolve(PAGE);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, page.join('\n'));
  progress(`page: ${path}`);
  return result;
}

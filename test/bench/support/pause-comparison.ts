import { atMost, type BenchResult, progress } from './bench-result.js';
import { distribution, quartiles } from './percentiles.js';
import { mixed, type MixedLoad, type Spent, type TextServer } from './text-load.js';

const LOAD: MixedLoad = {
  ...{ short: { promptLength: 16, maxTokens: 40 }, talkers: 4 },
  ...{ long: { promptLength: 700, maxTokens: 4 }, readers: 2 },
};
const ROUNDS = 8;

/**
 * What those who read notice of long prompts beside them, in chunks and whole: in turns,
 * each first as often as the other.
 */
export async function comparePauses(
  servers: Record<'chunked' | 'whole', TextServer>,
): Promise<BenchResult> {
  const spent = { chunked: [] as Spent[], whole: [] as Spent[] };
  const ratios: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const order =
      round % 2 === 0 ? (['chunked', 'whole'] as const) : (['whole', 'chunked'] as const);
    const gaps = { chunked: 0, whole: 0 };
    for (const kind of order) {
      const turn = await mixed(servers[kind], LOAD);
      spent[kind].push(...turn);
      gaps[kind] = distribution(turn.flatMap(({ gapsMs }) => gapsMs)).p99;
    }
    ratios.push(gaps.chunked / gaps.whole);
    progress(
      `  round ${round + 1} of ${ROUNDS}, gap p99 ms: ${gaps.chunked} in chunks, ${gaps.whole} whole`,
    );
  }
  const ratio = quartiles(ratios);
  const results = {
    chunked: figuresOf(spent.chunked),
    whole: figuresOf(spent.whole),
    p99Ratio: ratio,
  };
  return {
    results,
    goals: [atMost('gap p99 under long prompts, in chunks / whole', ratio.p50, 0.8)],
  };
}

const figuresOf = (spent: readonly Spent[]): object => ({
  firstMs: distribution(spent.map(({ firstMs }) => firstMs)),
  gapMs: distribution(spent.flatMap(({ gapsMs }) => gapsMs)),
});

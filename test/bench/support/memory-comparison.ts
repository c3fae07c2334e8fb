import { atLeast, atMost, type BenchResult, progress } from './bench-result.js';
import { distribution, quartiles } from './percentiles.js';
import { sustained, type TextCaller, type TextServer, throughput } from './text-load.js';

const CALLERS = 32;
const REQUESTS = 64;
const ROUNDS = 6;

/**
 * As many callers as rows, with short prompts, on the KV memory that all rows could need
 * and on half of it: in turns, each first as often as the other.
 */
export async function compareMemories(
  servers: Record<'full' | 'half', TextServer>,
  caller: TextCaller,
): Promise<BenchResult> {
  for (const server of Object.values(servers)) await throughput(server, CALLERS, CALLERS, caller);
  const requestsMs = { full: [] as number[], half: [] as number[] };
  const rates: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const order = round % 2 === 0 ? (['full', 'half'] as const) : (['half', 'full'] as const);
    const perS = { full: 0, half: 0 };
    for (const kind of order) {
      const turn = await sustained(servers[kind], CALLERS, REQUESTS, caller);
      requestsMs[kind].push(...turn.requestsMs);
      perS[kind] = turn.tokensPerS;
    }
    rates.push(perS.half / perS.full);
    progress(
      `  round ${round + 1} of ${ROUNDS}, tokens/s: ${Math.round(perS.full)} full, ${Math.round(perS.half)} half`,
    );
  }
  const [full, half] = [distribution(requestsMs.full), distribution(requestsMs.half)];
  const rate = quartiles(rates);
  return {
    results: { fullRequestMs: full, halfRequestMs: half, rateRatio: rate },
    goals: [
      atLeast('tokens/s of 32 callers on half the KV memory / on all of it', rate.p50, 0.95),
      atMost('their request p99, on half / on all', half.p99 / full.p99, 1.05),
    ],
  };
}

import { silentWav } from '../support/http-request.js';
import { pause } from '../support/waiting.js';
import { BENCH_MODEL } from './support/bench-model.js';
import { atLeast, atMost, type BenchResult, progress } from './support/bench-result.js';
import { BenchRig } from './support/bench-rig.js';
import { median, rounded } from './support/percentiles.js';
import { exponential, seededRandom } from './support/seeded-random.js';

const COST = { groupMs: 200, itemMs: 25, maxBatch: 8 };
/** 8 in 400 ms. */
const CAPACITY_PER_S = 20;
/** Of the capacity, by phases: what forecasts learn in the first is not judged. */
const LOADS = [0.8, 1.3, 0.6, 1.2, 0.9];
const PHASE_MS = 15_000;
const LEAST_WAIT_MS = 200;
const REALTIME_SHARE = 0.25;

interface Forecast {
  readonly id: string;
  readonly atMs: number;
  readonly p50: number;
  readonly p90: number;
}

interface Wait extends Forecast {
  readonly waitedMs: number;
}

/** Do requests start when the gateway says they will, while the load changes? */
export async function run(): Promise<BenchResult> {
  await using rig = await BenchRig.start({ cost: COST });
  const caller = new AsyncCaller(`http://127.0.0.1:${rig.gateway.port}`);
  const startMs = performance.now();
  const forecasts = await Promise.all(await sent(caller, startMs));
  const waits: Wait[] = [];
  // One after the other, when all have been sent: polls would compete with
  // what is measured.
  for (const forecast of forecasts) if (forecast) waits.push(await caller.waitOf(forecast));
  const judged = waits.filter(
    ({ atMs, waitedMs }) => atMs - startMs > PHASE_MS && waitedMs > LEAST_WAIT_MS,
  );
  const coverage = judged.filter(({ waitedMs, p90 }) => waitedMs <= p90).length / judged.length;
  const medianError = median(
    judged.map(({ waitedMs, p50 }) => Math.abs(p50 - waitedMs) / waitedMs),
  );
  progress(
    `  ${judged.length} waits, ${(100 * coverage).toFixed(1)} % before p90, error ${medianError.toFixed(3)}`,
  );
  return {
    results: {
      ...{
        requests: waits.length,
        judged: judged.length,
        coverage: rounded(coverage),
        medianError,
      },
      waitMs: rounded(median(judged.map(({ waitedMs }) => waitedMs))),
    },
    goals: [
      atLeast('waits over 200 ms that end before their p90', coverage, 0.85),
      atMost('the same', coverage, 0.95),
      atMost('median error of p50', medianError, 0.25),
    ],
  };
}

/** Poisson arrivals whose rate changes with every phase. */
async function sent(
  caller: AsyncCaller,
  startMs: number,
): Promise<Promise<Forecast | undefined>[]> {
  const random = seededRandom(1);
  const forecasts: Promise<Forecast | undefined>[] = [];
  for (const [index, load] of LOADS.entries()) {
    let dueMs = startMs + index * PHASE_MS;
    for (const endMs = dueMs + PHASE_MS; dueMs < endMs;) {
      dueMs += exponential(random, 1000 / (load * CAPACITY_PER_S));
      await pause(Math.max(0, dueMs - performance.now()));
      forecasts.push(caller.ask(random() < REALTIME_SHARE ? 'realtime' : 'batch'));
    }
  }
  return forecasts;
}

interface Answer {
  readonly status?: string;
  readonly waited_ms: number;
  readonly forecast?: {
    readonly start_in_ms: { readonly p50: number; readonly p90: number };
  };
}

/**
 * Sends requests without waiting for their answers, asks for their forecasts at once, and
 * for their waits later.
 */
class AsyncCaller {
  constructor(private readonly url: string) {}

  /** Undefined: it had no forecast. */
  async ask(priority: string): Promise<Forecast | undefined> {
    const atMs = performance.now();
    const form = new FormData();
    form.set('model', BENCH_MODEL);
    form.set('file', new Blob([silentWav()], { type: 'audio/wav' }), 'silence.wav');
    const headers = { prefer: 'respond-async', 'x-priority': priority };
    const accepted = await fetch(`${this.url}/v1/audio/transcriptions`, {
      method: 'POST',
      headers,
      body: form,
    });
    const { request_id: id } = (await accepted.json()) as { request_id: string };
    const { forecast, waited_ms: sofarMs } = await this.#look(id);
    const { p50, p90 } = forecast?.start_in_ms ?? {};
    if (p50 === undefined || p90 === undefined) return undefined;
    return { id, atMs, p50: sofarMs + p50, p90: sofarMs + p90 };
  }

  async waitOf(forecast: Forecast): Promise<Wait> {
    let answer = await this.#look(forecast.id);
    for (; answer.status !== 'completed'; answer = await this.#look(forecast.id)) await pause(250);
    return { ...forecast, waitedMs: answer.waited_ms };
  }

  async #look(id: string): Promise<Answer> {
    return (await (await fetch(`${this.url}/v1/requests/${id}`)).json()) as Answer;
  }
}

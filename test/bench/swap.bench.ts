import { type ModelSpec } from '../../src/platform/config/model-spec.js';
import { Product } from '../support/product.js';
import { pause } from '../support/waiting.js';
import { atLeast, atMost, type BenchResult, progress } from './support/bench-result.js';
import { distribution } from './support/percentiles.js';
import {
  equalLoads,
  PERSON_LOAD,
  PERSON_MINUTES,
  personBesideBatch,
} from './support/simulation/device-scenes.js';

/** Of the live scene; 0: only what runs in virtual time. */
const MINUTES = Number(process.env.BENCH_MINUTES ?? 20);
const LOADS = [0.2, 0.4, 0.6, 0.8, 0.95] as const;
/** Of each, in virtual time. */
const VIRTUAL_MINUTES = 60;
const ALONE_S = 60;
/** Of the engine; a process takes a second more, or several on a busy machine. */
const LOAD_MS = { a: 7000, b: 5000, c: 7000 } as const;
const MEMORY = { a: '8GiB', b: '5GiB', c: '2GiB' } as const;
type Model = keyof typeof LOAD_MS;
/** Of one group of 4 requests. */
const REQUEST_MS = 1000;
const CALLERS = 8;

/** As the models file has it: of the three, two fit at a time, and a and b do not fit together. */
const model = (id: Model): ModelSpec =>
  ({
    ...{ id, kind: 'stt', engine: 'synthetic', capabilities: ['transcribe'] },
    ...{ device: 'gpu0', memory: MEMORY[id] },
    options: { baseMs: REQUEST_MS, loadMs: LOAD_MS[id], maxBatch: 4 },
  }) as unknown as ModelSpec;

/** What became of requests: milliseconds of answers, in order, and what was no answer. */
class Outcomes {
  readonly tookMs: number[] = [];
  refused = 0;
  cut = 0;

  constructor(private readonly product: Product) {}

  async ask(name: Model, priority: 'realtime' | 'batch'): Promise<void> {
    const fromMs = performance.now();
    try {
      const response = await this.product.transcribe('words', { model: name, priority });
      await response.text();
      if (response.ok) this.tookMs.push(performance.now() - fromMs);
      else this.refused += 1;
    } catch {
      this.cut += 1;
    }
  }
}

/** Callers of BATCH on `a`, each again when it is answered. @returns answers per second */
async function batch(outcomes: Outcomes, seconds: number): Promise<number> {
  const endMs = performance.now() + seconds * 1000;
  const before = outcomes.tookMs.length;
  const caller = async (): Promise<void> => {
    while (performance.now() < endMs) await outcomes.ask('a', 'batch');
  };
  await Promise.all(Array.from({ length: CALLERS }, caller));
  return (outcomes.tookMs.length - before) / seconds;
}

/** Once a minute; does not wait for the answer before. */
async function person(outcomes: Outcomes, minutes: number): Promise<void> {
  const asked: Promise<void>[] = [];
  for (let minute = 0; minute < minutes; minute += 1) {
    await pause(30_000);
    asked.push(outcomes.ask('b', 'realtime'));
    await pause(30_000);
  }
  await Promise.all(asked);
}

export async function run(): Promise<BenchResult> {
  const virtual = inVirtualTime();
  if (MINUTES === 0) return virtual;
  const live = await withProcesses();
  return {
    results: { virtual: virtual.results, ...live.results },
    goals: [...virtual.goals, ...live.goals],
  };
}

/** The product's rules with simulated workers: seconds of CPU, and the same on every machine. */
function inVirtualTime(): BenchResult {
  const { tookMs, batchOfAlone, worstOfMean } = personBesideBatch();
  const person_ms = distribution(tookMs);
  const equal = LOADS.map(load => ({ load, ...equalLoads(load, VIRTUAL_MINUTES) }));
  progress(`virtual: ${JSON.stringify({ person_ms, batchOfAlone, worstOfMean, equal })}`);
  return {
    results: { person_ms, batchOfAlone, worstOfMean, equal },
    goals: [
      atLeast('virtual: person answered', tookMs.length / PERSON_MINUTES, 1),
      // A group on the device and one ahead, and a second.
      atMost('virtual: person p50, s', person_ms.p50 / 1000, PERSON_LOAD.b / 1000 + 3),
      atMost('virtual: person p99, s', person_ms.p99 / 1000, 25),
      atLeast('virtual: batch rate / alone', batchOfAlone, 0.74),
      atLeast('virtual: worst five minutes of the batch / mean', worstOfMean, 0.9),
      ...equal.flatMap(({ load, ofBestSchedule, swaps, mostSwaps }) => [
        atLeast(`virtual: load ${load}, answers / best schedule`, ofBestSchedule, 0.95),
        atMost(`virtual: load ${load}, swaps / residences`, swaps / mostSwaps, 1),
      ]),
    ],
  };
}

/** A batch client keeps 8 on one model; a person asks another one, which does not fit beside it. */
async function withProcesses(): Promise<BenchResult> {
  const devices = [{ id: 'gpu0', memory: '10GiB' }];
  const models = (['a', 'b', 'c'] as const).map(model);
  await using product = await Product.start(models, {}, { devices });
  const [lines, people] = [new Outcomes(product), new Outcomes(product)];
  await lines.ask('a', 'batch');
  const alone = await batch(lines, ALONE_S);
  progress(`alone: ${alone.toFixed(2)} requests/s`);
  const [rate] = await Promise.all([batch(lines, MINUTES * 60), person(people, MINUTES)]);
  const person_ms = distribution(people.tookMs);
  const scrape = await product.gateway.scrape();
  const loadS = (id: Model): number =>
    scrape.sum('switchyard_model_load_seconds_sum', `model="${id}"`) /
    scrape.sum('switchyard_model_load_seconds_count', `model="${id}"`);
  const results = {
    minutes: MINUTES,
    alone_per_s: alone,
    batch_per_s: rate,
    person_ms,
    answered: `${people.tookMs.length} of ${MINUTES}`,
    refused: lines.refused + people.refused,
    cut_off: lines.cut + people.cut,
    loads: scrape.sum('switchyard_model_loads_total'),
    load_s: { a: loadS('a'), b: loadS('b') },
  };
  // A worker has a group on its device and one ahead; then the load, then the answer itself.
  const longestS = loadS('b') + (3 * REQUEST_MS) / 1000 + 1;
  progress(JSON.stringify(results));
  return {
    results,
    goals: [
      atLeast('person answered', people.tookMs.length / MINUTES, 1),
      atMost('person p50, s', person_ms.p50 / 1000, longestS),
      atMost('person p99, s', person_ms.p99 / 1000, 25),
      atLeast('batch rate / alone', rate / alone, 0.74),
      atMost('refused or cut off', results.refused + results.cut_off, 0),
    ],
  };
}

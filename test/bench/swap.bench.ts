import { type ModelSpec } from '../../src/platform/config/model-spec.js';
import { LeastRecentlyUsed } from '../support/least-recently-used.js';
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

/** Of a stream, in the scenes of one call each. */
const STREAM_S = 60;
const TOKEN_MS = 100;
const DEVICES = [{ id: 'gpu0', memory: '10GiB' }];

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

  async ask(name: string, priority: 'realtime' | 'batch'): Promise<void> {
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
  const single = await singleCalls();
  const live = await withProcesses();
  return {
    results: { virtual: virtual.results, single: single.results, ...live.results },
    goals: [...virtual.goals, ...single.goals, ...live.goals],
  };
}

/** The product's rules with simulated workers: seconds of CPU, and the same on every machine. */
function inVirtualTime(): BenchResult {
  const { tookMs, batchOfAlone, worstOfMean } = personBesideBatch();
  const person_ms = distribution(tookMs);
  const equal = LOADS.map(load => ({ load, ...equalLoads(load, VIRTUAL_MINUTES) }));
  // In place of other programs: whoever comes first is loaded first, when the other one is idle.
  const { tookMs: lruMs, batchOfAlone: lruBatch } = personBesideBatch(new LeastRecentlyUsed());
  const leastRecentlyUsed = { answered: lruMs.length, batchOfAlone: lruBatch };
  const results = { person_ms, batchOfAlone, worstOfMean, equal, leastRecentlyUsed };
  progress(`virtual: ${JSON.stringify(results)}`);
  return {
    results,
    goals: [
      atLeast('virtual: person answered', tookMs.length / PERSON_MINUTES, 1),
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

/** Calls one by one: each load serves all who wait, and nothing is cut off. */
async function singleCalls(): Promise<BenchResult> {
  const talk = {
    ...model('a'),
    ...{ kind: 'llm', capabilities: ['chat'] },
    options: { loadMs: LOAD_MS.a, tokens: (STREAM_S * 1000) / TOKEN_MS, perTokenMs: TOKEN_MS },
  } as unknown as ModelSpec;
  const models = [talk, model('b'), model('c')];
  await using product = await Product.start(models, {}, { devices: DEVICES });
  const calls = new Outcomes(product);
  const loads = async (id: Model): Promise<number> =>
    (await product.gateway.scrape()).sum('switchyard_model_loads_total', `model="${id}"`);
  await Promise.all([1, 2, 3, 4].map(() => calls.ask('b', 'batch')));
  const loadsOfFour = await loads('b');
  const together = await Promise.all([stream(product), calls.ask('c', 'batch')]);
  progress(`four calls: ${loadsOfFour} load; then two models in one second`);
  const long = stream(product);
  await product.untilRunning(1);
  await pause(10_000);
  const person = new Outcomes(product);
  const asked = person.ask('b', 'realtime');
  const forecastS = await forecastOf(product, 'b');
  await asked;
  // The answer itself is computed after the wait that was forecast.
  const waitS = (person.tookMs[0]! - REQUEST_MS) / 1000;
  progress(`a stream of ${STREAM_S} s: ${forecastS} s forecast, ${waitS.toFixed(1)} s waited`);
  const leaving = new AbortController();
  const left = stream(product, leaving.signal);
  const stateOfA = (state: string) =>
    product.until(`a is ${state}`, async () => {
      const shown = await product.json<{ data: { id: string; state: string }[] }>(
        '/admin/v1/models',
      );
      return shown.data.some(one => one.id === 'a' && one.state === state);
    });
  await stateOfA('loading');
  const leftMs = performance.now();
  leaving.abort();
  await Promise.all([left, stateOfA('unloaded')]);
  const endedAfterMs = performance.now() - leftMs;
  const answered = calls.tookMs.length + person.tookMs.length;
  const streams = [together[0], await long].filter(Boolean).length;
  return {
    results: { loadsOfFour, forecastS, waitS, streams, endedAfterMs },
    goals: [
      atMost('four first calls at once: loads', loadsOfFour, 1),
      atLeast('calls of b and c answered, of 6', answered, 6),
      atLeast('streams of 60 s that were whole, of 2', streams, 2),
      atMost('forecast of b behind a stream: off by', Math.abs(forecastS / waitS - 1), 0.2),
      atMost('a load whose caller left ends within, s', endedAfterMs / 1000, 2),
    ],
  };
}

/** @returns whether it came whole */
async function stream({ url }: Product, signal?: AbortSignal): Promise<boolean> {
  const messages = [{ role: 'user', content: 'talk' }];
  try {
    const response = await fetch(`${url}/v1/chat/completions`, {
      ...{ method: 'POST', ...(signal && { signal }) },
      headers: { 'content-type': 'application/json', connection: 'close' },
      body: JSON.stringify({ model: 'a', messages, stream: true }),
    });
    const text = await response.text();
    return response.ok && text.trimEnd().endsWith('[DONE]') && !text.includes('"error"');
  } catch {
    return false;
  }
}

/** Seconds, as the explanation of the request that waits says them. */
async function forecastOf(product: Product, name: string): Promise<number> {
  let about: string | undefined;
  await product.until(`a forecast for ${name}`, async () => {
    const path = `/admin/v1/requests?state=queued&model=${name}`;
    const { data } = await product.json<{ data: { explanation: string }[] }>(path);
    [, about] = /in about (\d+) s/.exec(data[0]?.explanation ?? '') ?? [];
    return about !== undefined;
  });
  return Number(about);
}

/** A batch client keeps 8 on one model; a person asks another one, which does not fit beside it. */
async function withProcesses(): Promise<BenchResult> {
  const models = (['a', 'b', 'c'] as const).map(model);
  await using product = await Product.start(models, {}, { devices: DEVICES });
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
  // A worker has a group on its device and one ahead; then the load, then a second for the answer.
  const longestS = loadS('b') + (2 * REQUEST_MS) / 1000 + 1;
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

import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo } from 'node:net';
import { transcriptionRequest } from '../support/http-request.js';
import { BENCH_MODEL } from './support/bench-model.js';
import { atLeast, progress, type BenchResult } from './support/bench-result.js';
import { BenchRig } from './support/bench-rig.js';
import { LoadProcess } from './support/load-process.js';
import { type MeasuredLoad, measuredLoad } from './support/measured-load.js';
import { median, rounded } from './support/percentiles.js';

const ROUNDS = 13;
const CALLERS = 64;
const WARMUP_MS = 10_000;
/** `OTEL_TRACES_SAMPLER_ARG`, as the manual advises it for much traffic. */
const ADVISED_SHARE = '0.01';

/**
 * What do traces of requests cost? Nothing traced, every request, and one in a
 * hundred, in turns.
 */
export async function run(): Promise<BenchResult> {
  const collector = await startCollector();
  const options = {
    cost: { groupMs: 0, maxBatch: CALLERS },
    settings: { 'batching.max_size': CALLERS },
  };
  await using none = await BenchRig.start(options);
  process.env.OTEL_EXPORTER_OTLP_ENDPOINT = `http://127.0.0.1:${(collector.address() as AddressInfo).port}`;
  await using all = await BenchRig.start(options);
  process.env.OTEL_TRACES_SAMPLER_ARG = ADVISED_SHARE;
  await using advised = await BenchRig.start(options);
  await using load = new LoadProcess();
  for (const rig of [none, all, advised]) await turn(load, rig, WARMUP_MS);
  const rounds: Record<'none' | 'all' | 'advised', MeasuredLoad>[] = [];
  for (let round = 0; round < ROUNDS; round += 1)
    rounds.push({
      none: await turn(load, none, 1000),
      all: await turn(load, all, 1000),
      advised: await turn(load, advised, 1000),
    });
  collector.close();
  const beside = (side: 'all' | 'advised', what: (measured: MeasuredLoad) => number): number =>
    rounded(median(rounds.map(round => what(round[side]) / what(round.none))));
  const results = {
    requestsPerS: rounded(median(rounds.map(round => perSecond(round.none)))),
    all: {
      requests: beside('all', perSecond),
      cpu: beside('all', ({ cpuMs }) => cpuMs),
    },
    advised: {
      requests: beside('advised', perSecond),
      cpu: beside('advised', ({ cpuMs }) => cpuMs),
    },
  };
  progress(`  of what runs without traces: ${JSON.stringify(results)}`);
  return {
    results,
    goals: [atLeast('requests/s with 1 in 100 traced / none', results.advised.requests, 0.97)],
  };
}

const perSecond = ({ report }: MeasuredLoad): number => report.requestsPerS;

const turn = (
  load: LoadProcess,
  { gateway }: BenchRig,
  durationMs: number,
): Promise<MeasuredLoad> =>
  measuredLoad(
    load,
    {
      request: transcriptionRequest({ model: BENCH_MODEL, priority: 'batch' }),
      arrivals: { kind: 'closed', callers: CALLERS },
      warmupMs: 200,
      durationMs,
    },
    gateway,
  );

/** Takes what it is sent. */
async function startCollector(): Promise<Server> {
  const server = createServer((request, response) => {
    request.resume();
    request.on('end', () => response.end('{}'));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

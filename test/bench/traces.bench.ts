import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo } from 'node:net';
import { transcriptionRequest } from '../support/http-request.js';
import { atLeast, progress, type BenchResult } from './support/bench-result.js';
import { BENCH_MODEL } from './support/bench-model.js';
import { BenchRig } from './support/bench-rig.js';
import { LoadProcess } from './support/load-process.js';
import { median, rounded } from './support/percentiles.js';
import { processCpuMs } from './support/process-cpu.js';

const ROUNDS = 13;
const CALLERS = 64;
const WARMUP_MS = 10_000;
/** `OTEL_TRACES_SAMPLER_ARG`, as the manual advises it for much traffic. */
const ADVISED_SHARE = '0.01';

interface Turn {
  readonly requestsPerS: number;
  readonly cpuMs: number;
}

/** What do traces of requests cost? Nothing traced, every request, and one in a hundred, in turns. */
export async function run(): Promise<BenchResult> {
  const collector = await startCollector();
  const options = { cost: { groupMs: 0, maxBatch: CALLERS }, settings: { 'batching.max_size': CALLERS } };
  await using none = await BenchRig.start(options);
  process.env.OTEL_EXPORTER_OTLP_ENDPOINT = `http://127.0.0.1:${(collector.address() as AddressInfo).port}`;
  await using all = await BenchRig.start(options);
  process.env.OTEL_TRACES_SAMPLER_ARG = ADVISED_SHARE;
  await using advised = await BenchRig.start(options);
  await using load = new LoadProcess();
  for (const rig of [none, all, advised]) await turn(load, rig, WARMUP_MS);
  const rounds: Record<'none' | 'all' | 'advised', Turn>[] = [];
  for (let round = 0; round < ROUNDS; round += 1)
    rounds.push({
      none: await turn(load, none, 1000),
      all: await turn(load, all, 1000),
      advised: await turn(load, advised, 1000),
    });
  collector.close();
  const beside = (side: 'all' | 'advised', what: keyof Turn): number =>
    rounded(median(rounds.map(round => round[side][what] / round.none[what])));
  const results = {
    requestsPerS: rounded(median(rounds.map(round => round.none.requestsPerS))),
    all: { requests: beside('all', 'requestsPerS'), cpu: beside('all', 'cpuMs') },
    advised: { requests: beside('advised', 'requestsPerS'), cpu: beside('advised', 'cpuMs') },
  };
  progress(`  of what runs without traces: ${JSON.stringify(results)}`);
  return {
    results,
    goals: [atLeast('requests/s with 1 in 100 traced / none', results.advised.requests, 0.97)],
  };
}

async function turn(load: LoadProcess, rig: BenchRig, durationMs: number): Promise<Turn> {
  const beforeMs = processCpuMs(rig.gateway.process.child.pid);
  const warmupMs = 200;
  const { requestsPerS } = await load.run({
    port: rig.gateway.port,
    request: transcriptionRequest({ model: BENCH_MODEL, priority: 'batch' }),
    arrivals: { kind: 'closed', callers: CALLERS },
    warmupMs,
    durationMs,
  });
  const requests = (requestsPerS * (warmupMs + durationMs)) / 1000;
  return { requestsPerS, cpuMs: (processCpuMs(rig.gateway.process.child.pid) - beforeMs) / requests };
}

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

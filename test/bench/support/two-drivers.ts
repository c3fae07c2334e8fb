import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type SettingPath } from '../../../src/platform/config/settings.js';
import { GatewayProcess } from '../../support/gateway-process.js';
import { transcriptionRequest } from '../../support/http-request.js';
import { RedisServer } from '../../support/redis-server.js';
import { until } from '../../support/waiting.js';
import { BenchCaller } from './bench-caller.js';
import { BENCH_MODEL, benchModel } from './bench-model.js';
import { LoadProcess } from './load-process.js';
import { distribution, type Distribution, median, rounded } from './percentiles.js';

const ROUNDS = 5;
const CANCELS = 100;
const ENDLESS_MS = 60_000;
const QUICK = 'quick';

/** A model that costs nothing, and one whose calls end only when they are cancelled. */
const MODELS = [
  { ...benchModel({ groupMs: 0, maxBatch: 8 }), id: QUICK },
  benchModel({ groupMs: ENDLESS_MS, checkEveryMs: 10, maxBatch: 8 }),
];

export interface TwoDrivers {
  /** p50 of a lone REALTIME caller, whose work costs nothing. */
  readonly embeddedMs: number;
  readonly redisMs: number;
  readonly addedMs: number;
  /**
   * Accepted by one gateway, cancelled at another: sent to answered, in flight at
   * a pull worker.
   */
  readonly cancelElsewhereMs: Distribution;
}

/**
 * What does the shared queue add to one request, and how soon does a cancel cross it?
 * Real gateways with local workers.
 */
export async function twoDrivers(folder: string): Promise<TwoDrivers> {
  await using redis = await RedisServer.start();
  const shared = {
    'queue.driver': 'redis',
    'redis.url': redis.url,
    'data.dir': join(folder, 'shared'),
  } as const;
  await using embedded = await gateway(join(folder, 'embedded'), {});
  await using accepts = await gateway(join(folder, 'accepts'), shared);
  await using cancels = await gateway(join(folder, 'cancels'), shared);
  await using load = new LoadProcess();
  const times = { embedded: [] as number[], redis: [] as number[] };
  for (let round = 0; round < ROUNDS; round++) {
    times.embedded.push(await loneP50(load, embedded.port));
    times.redis.push(await loneP50(load, accepts.port));
  }
  const [embeddedMs, redisMs] = [rounded(median(times.embedded)), rounded(median(times.redis))];
  const cancelElsewhereMs = await cancelledElsewhere(accepts, cancels);
  return {
    embeddedMs,
    redisMs,
    addedMs: rounded(redisMs - embeddedMs),
    cancelElsewhereMs,
  };
}

async function gateway(
  folder: string,
  settings: Partial<Record<SettingPath, string>>,
): Promise<GatewayProcess> {
  await mkdir(folder, { recursive: true });
  return GatewayProcess.start(
    MODELS,
    { 'inference.timeout_min_ms': 10 * ENDLESS_MS, ...settings },
    { folder },
  );
}

async function loneP50(load: LoadProcess, port: number): Promise<number> {
  const request = transcriptionRequest({ model: QUICK, priority: 'realtime' });
  const arrivals = { kind: 'closed', callers: 1 } as const;
  return (await load.run({ port, request, arrivals, warmupMs: 500, durationMs: 2000 })).latencyMs
    .p50;
}

async function cancelledElsewhere(
  accepts: GatewayProcess,
  cancels: GatewayProcess,
): Promise<Distribution> {
  const caller = new BenchCaller(accepts.port, cancels.port);
  const series: number[] = [];
  for (let round = 0; round < CANCELS; round++) {
    const id = `elsewhere-${round}`;
    void caller.transcribe(id, 'realtime');
    const runs = async () =>
      (await cancels.call('GET', `/v1/requests/${id}`)).body.includes('"running"');
    await until(runs, { everyMs: 0, what: `${BENCH_MODEL}: ${id} runs` });
    series.push((await caller.cancel()).callerMs);
  }
  caller.close();
  return distribution(series);
}

import { once } from 'node:events';
import { GatewayProcess } from '../support/gateway-process.js';
import { syntheticModel } from '../support/synthetic-model.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { atMost, type BenchResult, progress } from './support/bench-result.js';
import { rounded } from './support/percentiles.js';

const SIZES = [1000, 10_000];
const SENDERS = 16;
const GRACE_MS = 10_000;
/** Beyond the grace. */
const AIM_MS = 2000;
/** One after the other: the queue hardly gets shorter, and what runs ends by itself. */
const SERVICE_MS = 200;
const SETTINGS = {
  'server.shutdown_grace_ms': GRACE_MS,
  'queue.max_requests': 20_000,
  'queue.max_requests_per_model': 20_000,
  'queue.timeout_ms': 3_600_000,
  'logging.level': 'info',
};

/**
 * How soon does a gateway end with a long queue of requests whose callers have left
 * with a 202?
 */
export async function run(): Promise<BenchResult> {
  const results: Record<string, unknown> = {};
  const goals = [];
  for (const size of SIZES) {
    const ms = await endMs(size);
    results[`queued_${size}`] = { endMs: ms };
    goals.push(
      atMost(`end after SIGTERM beyond the grace, ${size} queued, ms`, ms - GRACE_MS, AIM_MS),
    );
  }
  return { results, goals };
}

async function endMs(size: number): Promise<number> {
  const folder = temporaryFolder();
  const model = syntheticModel({ baseMs: SERVICE_MS, maxConcurrent: 1, maxBatch: 1 });
  await using gateway = await GatewayProcess.start([model], SETTINGS, { folder });
  let sent = 0;
  const send = async (): Promise<void> => {
    while (sent++ < size) await accepted(gateway.port);
  };
  await Promise.all(Array.from({ length: SENDERS }, send));
  progress(`  ${size} queued`);
  const { child } = gateway.process;
  const exited = once(child, 'exit');
  const startMs = performance.now();
  child.kill('SIGTERM');
  await exited;
  const ms = rounded(performance.now() - startMs);
  progress(`  ended after ${ms} ms`);
  return ms;
}

async function accepted(port: number): Promise<void> {
  const body = new FormData();
  body.set('file', new Blob(['words']), 'clip.wav');
  body.set('model', 'synthetic');
  const url = `http://127.0.0.1:${port}/v1/audio/transcriptions`;
  const answer = await fetch(url, {
    method: 'POST',
    headers: { prefer: 'respond-async' },
    body,
  });
  if (answer.status !== 202) throw new Error(`${answer.status} ${await answer.text()}`);
  await answer.arrayBuffer();
}

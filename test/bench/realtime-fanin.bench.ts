import { createHash } from 'node:crypto';
import { GatewayProcess } from '../support/gateway-process.js';
import { syntheticModel } from '../support/synthetic-model.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { pause } from '../support/waiting.js';
import { atMost, progress, type BenchResult } from './support/bench-result.js';
import { BenchWorker } from './support/bench-worker.js';
import { directCallers, gatewayCaller, type LiveCaller } from './support/live-caller.js';
import { distribution, rounded } from './support/percentiles.js';

const SESSIONS = Number(process.env.BENCH_SESSIONS ?? 200);
const FRAME_MS = 20;
const FRAME_BYTES = 640;
/** One utterance: half a second. */
const FRAMES = 25;
const UTTERANCES = 10;

/**
 * 200 microphones at once: is every frame heard, in order, and what does the gateway add?
 */
export async function run(): Promise<BenchResult> {
  const folder = temporaryFolder();
  const model = syntheticModel(
    { streams: SESSIONS + 8 },
    { id: 'live', capabilities: ['transcribe', 'stream'] },
  );
  await using worker = await BenchWorker.start(model, folder);
  const served = { ...model, replicas: 0, addresses: [worker.address] };
  await using gateway = await GatewayProcess.start([served], {}, { folder });
  const connect = directCallers(worker.address);
  const direct = await measure(
    'direct',
    Array.from({ length: SESSIONS }, (_, id) => connect(id)),
  );
  const before = await residentBytes(gateway);
  const callers = await Promise.all(
    Array.from({ length: SESSIONS }, () => gatewayCaller(gateway.port, 'live')),
  );
  const through = await measure('gateway', callers, () => residentBytes(gateway));
  const perSession = Math.max(0, through.memory - before) / SESSIONS / 1024;
  return {
    results: {
      ...{
        sessions: SESSIONS,
        framesPerS: (SESSIONS * 1000) / FRAME_MS,
        frames: SESSIONS * FRAMES * UTTERANCES,
      },
      ...{
        directMs: direct.delays,
        gatewayMs: through.delays,
        memoryPerSessionKiB: rounded(perSession),
      },
      addedP99Ms: rounded(through.delays.p99 - direct.delays.p99),
    },
    goals: [atMost('utterances with a lost or reordered frame', through.wrong, 0)],
  };
}

async function measure(
  name: string,
  callers: readonly LiveCaller[],
  look = () => Promise.resolve(0),
) {
  const delays: number[] = [];
  let wrong = 0;
  const talking = callers.map(async (caller, id) => {
    await pause((FRAME_MS * id) / callers.length);
    const told: Promise<void>[] = [];
    for (let utterance = 0; utterance < UTTERANCES; utterance += 1) {
      const hash = createHash('sha256');
      await speak(caller, frame => hash.update(frame), { id, utterance });
      const sentMs = performance.now();
      const expected = hash.update('[]').digest('hex').slice(0, 8);
      told.push(
        caller.commit().then(text => {
          delays.push(performance.now() - sentMs);
          if (!text.includes(` ${expected} ${FRAMES * FRAME_BYTES} bytes`)) wrong += 1;
        }),
      );
    }
    await Promise.all(told);
  });
  await pause((UTTERANCES * FRAMES * FRAME_MS) / 2);
  const memory = await look();
  await Promise.all(talking);
  await Promise.all(callers.map(caller => caller.close()));
  const summary = { delays: distribution(delays), wrong, memory };
  progress(`  ${name}: commit to final ${JSON.stringify(summary.delays)}, ${wrong} wrong`);
  return summary;
}

/** In real time by the clock: a late frame is followed by its successors at once. */
async function speak(
  caller: LiveCaller,
  heard: (frame: Buffer) => void,
  { id, utterance }: { id: number; utterance: number },
): Promise<void> {
  const startMs = performance.now();
  for (let number = 0; number < FRAMES; number += 1) {
    const frame = Buffer.alloc(FRAME_BYTES, `${id}.${utterance}.${number} `);
    heard(frame);
    caller.send(frame);
    const dueMs = startMs + (number + 1) * FRAME_MS;
    await pause(Math.max(0, dueMs - performance.now()));
  }
}

const residentBytes = async (gateway: GatewayProcess): Promise<number> =>
  (await gateway.scrape()).sum('process_resident_memory_bytes');

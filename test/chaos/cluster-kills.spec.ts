import { expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import OpenAI, { toFile } from 'openai';
import { seededRandom } from '../bench/support/seeded-random.js';
import { ClusterLoad } from '../support/cluster-load.js';
import { type ClusterMember, ClusterProcess } from '../support/cluster-process.js';
import { syntheticModel } from '../support/synthetic-model.js';
import { pause } from '../support/waiting.js';
import { describeWith, POSTGRES, REDIS } from '../support/requires.js';

/** `CHAOS_KILLS=200`, that is `npm test -- --only chaos --kills 200`, for a long night. */
const KILLS = Number(process.env.CHAOS_KILLS ?? (process.env.TEST_FULL ? 10 : 5));
const SEED = Number(process.env.CHAOS_SEED ?? Date.now() % 1_000_000);
const CALLERS = 8;
const LINES = 200;
/** A group of the result log (src/batch/job/result-log.ts). */
const LINES_PER_CHECKPOINT = 64;
const KINDS = ['worker', 'gateway', 'processor', 'redis', 'postgres'] as const;

/** Short enough that who died is replaced within the time of a test. */
const IMPATIENT = {
  'redis.lock_ms': 1500,
  'redis.max_stalled': 20,
  'requests.lease_ms': 1500,
  'batch.lease_ms': 1500,
  'batch.backoff_min_ms': 100,
  'batch.backoff_max_ms': 1000,
  'batch.attempts': 1000,
};

const random = seededRandom(SEED);
const below = (limit: number): number => Math.floor(random() * limit);
describeWith(REDIS, POSTGRES)(`a cluster struck at random moments (seed ${SEED})`, () => {
  it(
    `by kill -9 of any process, ${KILLS} times under load: 0 lost, 0 answered wrongly, 0 answered twice, 0 stuck`,
    async () => {
      const models = [syntheticModel({ baseMs: 20, perItemMs: 5, maxBatch: 8 })];
      await using cluster = await ClusterProcess.start(models, IMPATIENT);
      const batch = await Batch.submit(cluster);
      const load = new ClusterLoad(cluster.url, CALLERS);
      const recoveries = await strike(cluster, load);
      await load.finish();
      await batch.end();
      tell(recoveries, load);

      expect(load.lost).toEqual([]);
      expect(load.wrong).toEqual([]);
      expect(load.answers.map(({ id }) => id).sort()).toEqual([...load.ids].sort());
      await batch.expectEachLineOnce();
      await expectNothingLeft(cluster);
      const again = await completedAgain(cluster);
      expect(again.filter(id => !isLine(id))).toEqual([]);
      // What a dead processor had not yet made durable is sent again (D-14); its first answer had nobody to hear it.
      expect(again.filter(isLine).length).toBeLessThanOrEqual(LINES_PER_CHECKPOINT * Math.ceil(KILLS / KINDS.length));
    },
    180_000 + KILLS * 30_000,
  );
});

interface Recovery {
  readonly kind: ClusterMember['kind'];
  readonly ms: number;
}

/** Each strike at another random moment: after some answers, and a random pause. Every kind has its turn. */
async function strike(cluster: ClusterProcess, load: ClusterLoad): Promise<Recovery[]> {
  const recoveries: Recovery[] = [];
  for (let kill = 0; kill < KILLS; kill += 1) {
    const kind = KINDS[kill % KINDS.length]!;
    const candidates = cluster.of(kind);
    const { name } = candidates[below(candidates.length)]!;
    const wanted = load.answers.length + below(40);
    await cluster.until('some answers came', () => load.answers.length >= wanted);
    await pause(below(100));
    const struckAtMs = performance.now();
    await cluster.kill(name);
    await cluster.until(`all is well after ${name} was killed`, () => cluster.whole());
    recoveries.push({ kind, ms: performance.now() - struckAtMs });
  }
  return recoveries;
}

/** A batch of transcriptions of one file, beside the callers. */
class Batch {
  private constructor(
    private readonly cluster: ClusterProcess,
    private readonly openai: OpenAI,
    private readonly id: string,
  ) {}

  static async submit(cluster: ClusterProcess): Promise<Batch> {
    const openai = new OpenAI({ baseURL: `${cluster.url}/v1`, apiKey: 'unused', maxRetries: 20, timeout: 10_000 });
    const audio = await openai.files.create({
      purpose: 'user_data',
      file: await toFile(Buffer.from('said'), 'said.wav'),
    });
    const url = '/v1/audio/transcriptions';
    const lines = Array.from({ length: LINES }, (_, index) => ({
      ...{ custom_id: `line-${index}`, method: 'POST', url },
      body: { model: 'synthetic', file_id: audio.id },
    }));
    const jsonl = lines.map(line => JSON.stringify(line)).join('\n');
    const input = await openai.files.create({ purpose: 'batch', file: await toFile(Buffer.from(jsonl), 'in.jsonl') });
    const endpoint = url as '/v1/embeddings'; // ours: not in the SDK's list
    const { id } = await openai.batches.create({ completion_window: '24h', endpoint, input_file_id: input.id });
    return new Batch(cluster, openai, id);
  }

  async end(): Promise<void> {
    const over = ['completed', 'failed', 'expired', 'cancelled'];
    await this.cluster.until('the batch ends', async () => over.includes((await this.#read()).status), 120_000);
  }

  async expectEachLineOnce(): Promise<void> {
    const { status, request_counts: counts, output_file_id: file } = await this.#read();
    expect([status, counts]).toEqual(['completed', { total: LINES, completed: LINES, failed: 0 }]);
    const text = await (await this.openai.files.content(file!)).text();
    const ids = text
      .trim()
      .split('\n')
      .map(line => (JSON.parse(line) as { custom_id: string }).custom_id);
    expect(ids.sort()).toEqual(Array.from({ length: LINES }, (_, index) => `line-${index}`).sort());
  }

  #read(): Promise<OpenAI.Batch> {
    return this.openai.batches.retrieve(this.id);
  }
}

/** Nothing waits and nothing runs, at any gateway. */
async function expectNothingLeft(cluster: ClusterProcess): Promise<void> {
  await cluster.until('queue and slots are empty', async () => {
    const scrapes = await Promise.all(cluster.of('gateway').map(gateway => cluster.scrape(gateway)));
    const names = ['scheduler_queue_depth', 'switchyard_requests_running', 'switchyard_worker_slots_in_use'];
    return scrapes.every(scrape => names.every(name => scrape.sum(name) === 0));
  });
}

const isLine = (jobId: string): boolean => jobId.includes('.batch_');

/** Jobs that ended with a result once more, by the journal that BullMQ keeps of its queue. */
async function completedAgain(cluster: ClusterProcess): Promise<string[]> {
  const redis = new Redis(cluster.of('redis')[0]!.port, '127.0.0.1');
  try {
    const [stream = ''] = (await redis.keys('switchyard:requests-synthetic:events')) ?? [];
    const entries = await redis.xrange(stream, '-', '+');
    const fields = entries.map(
      ([, flat]) => new Map(flat.flatMap((key, at) => (at % 2 === 0 ? [[key, flat[at + 1]!]] : []))),
    );
    // A caller who left is a cancel, which ends a job, too; what is sent again under its id is a new one.
    const done = fields.filter(hasResult).map(event => event.get('jobId')!);
    expect(done.length).toBeGreaterThan(0);
    return done.filter((id, at) => done.indexOf(id) !== at);
  } finally {
    redis.disconnect();
  }
}

const hasResult = (event: ReadonlyMap<string, string>): boolean =>
  event.get('event') === 'completed' && event.get('returnvalue')!.includes('"outcome":"completed"');

function tell(recoveries: readonly Recovery[], load: ClusterLoad): void {
  const lines = KINDS.map(kind => {
    const ms = recoveries.filter(recovery => recovery.kind === kind).map(recovery => recovery.ms / 1000);
    return `  ${kind.padEnd(10)} ${ms.length} killed, all well again after at most ${Math.max(0, ...ms).toFixed(1)} s`;
  });
  const sums = `  ${load.answers.length} requests answered, ${load.retries} times sent again`;
  process.stderr.write(`\n${[`recovery, seed ${SEED}`, ...lines, sums].join('\n')}\n`);
}

import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import OpenAI, { toFile } from 'openai';
import { parse } from 'yaml';
import { type ModelSpec } from '../../src/platform/config/model-spec.js';
import { isAlive } from '../../src/platform/process/is-alive.js';
import { ClusterProcess } from '../support/cluster-process.js';
import { RealtimeClient, TRANSCRIPTION } from '../support/realtime-client.js';
import { describeWith, POSTGRES, REDIS } from '../support/requires.js';
import { pause } from '../support/waiting.js';

const SENTENCE = 'The quick brown fox jumps over the lazy dog.';
/** Recognition is real: a wrong word or two are forgiven. */
const WORDS = ['quick', 'brown', 'fox', 'over', 'lazy', 'dog'];
const heard = (text: string): number => WORDS.filter(word => text.includes(word)).length;

/** 100 ms of PCM at 24 kHz. */
const FRAME = 4800;
const SILENCE = Buffer.alloc(48_000);

describeWith(REDIS, POSTGRES)('npm run up -- --topology cluster, with the default models', () => {
  let cluster: ClusterProcess;
  let openai: OpenAI;

  beforeAll(async () => {
    const { models } = parse(readFileSync('config/models.yaml', 'utf8')) as {
      models: ModelSpec[];
    };
    cluster = await ClusterProcess.start(models);
    openai = new OpenAI({
      baseURL: `${cluster.url}/v1`,
      apiKey: 'unused',
      maxRetries: 0,
      timeout: 120_000,
    });
  }, 120_000);
  afterAll(async () => cluster[Symbol.asyncDispose](), 60_000);

  const speak = async (format: 'mp3' | 'pcm'): Promise<Buffer> => {
    const body = {
      model: 'tts-1',
      voice: 'alloy',
      input: SENTENCE,
      response_format: format,
    };
    return Buffer.from(await (await openai.audio.speech.create(body)).arrayBuffer());
  };

  it('runs two gateways, two workers of each model, two processors, Redis and PostgreSQL', () => {
    const names = cluster.members.map(({ name }) => name);
    expect(names).toEqual([
      ...[
        'redis',
        'postgres',
        'pocketsphinx-en-1',
        'pocketsphinx-en-2',
        'flite-en-1',
        'flite-en-2',
      ],
      ...['gateway-1', 'gateway-2', 'processor-1', 'processor-2'],
    ]);
  });

  it('speaks at one gateway and transcribes at the other with the official SDK, each gateway in turn', async () => {
    for (let turn = 0; turn < 2; turn += 1) {
      const file = await toFile(await speak('mp3'), 'fox.mp3');
      const { text } = await openai.audio.transcriptions.create({
        file,
        model: 'whisper-1',
      });
      expect(heard(text)).toBeGreaterThanOrEqual(4);
    }
    for (const gateway of cluster.of('gateway')) {
      const accepted = (await cluster.scrape(gateway)).sum('switchyard_requests_accepted_total');
      expect(accepted).toBeGreaterThan(0);
    }
  }, 120_000);

  it('has its files and speech pulled from Redis, each model from its own queue', async () => {
    const redis = new Redis(cluster.of('redis')[0]!.port, '127.0.0.1');
    // Jobs go when they are answered; what happened to them stays in the event stream
    // of their queue for a minute.
    const streams = await redis.keys('switchyard:requests-*:events');
    expect(streams).toHaveLength(2);
    for (const stream of streams)
      expect((await redis.xrange(stream, '-', '+')).flat(2)).toContain('completed');
    redis.disconnect();
  });

  it('runs a batch whose file, job, lines and results pass through different processes', async () => {
    const lines = ['Good morning.', 'Good evening.'].map((input, index) => ({
      ...{ custom_id: `line-${index}`, method: 'POST', url: '/v1/audio/speech' },
      body: { model: 'tts-1', voice: 'alloy', input },
    }));
    const jsonl = lines.map(line => JSON.stringify(line)).join('\n');
    const input = await openai.files.create({
      purpose: 'batch',
      file: await toFile(Buffer.from(jsonl), 'in.jsonl'),
    });
    const endpoint = '/v1/audio/speech' as '/v1/embeddings'; // ours: not in the SDK's list
    const created = await openai.batches.create({
      completion_window: '24h',
      endpoint,
      input_file_id: input.id,
    });
    let batch = created;
    await cluster.until('the batch is completed', async () => {
      batch = await openai.batches.retrieve(created.id);
      return ['completed', 'failed', 'expired', 'cancelled'].includes(batch.status);
    });
    expect(batch).toMatchObject({
      status: 'completed',
      request_counts: { total: 2, completed: 2, failed: 0 },
    });
    const output = await (await openai.files.content(batch.output_file_id!)).text();
    const ids = output
      .trim()
      .split('\n')
      .map(line => (JSON.parse(line) as { custom_id: string }).custom_id);
    expect(ids.sort()).toEqual(['line-0', 'line-1']);
  }, 120_000);

  it('holds a realtime session through the proxy', async () => {
    const audio = Buffer.concat([SILENCE, await speak('pcm'), SILENCE, SILENCE]);
    const client = await RealtimeClient.open(cluster.url, { intent: 'transcription' });
    for (let at = 0; at < audio.length; at += FRAME) {
      client.say(audio.subarray(at, at + FRAME));
      await pause(100);
    }
    const { transcript } = await client.next(`${TRANSCRIPTION}.completed`);
    expect(heard(String(transcript))).toBeGreaterThanOrEqual(4);
    client.socket.close(1000);
  }, 120_000);

  it('tells metrics of every gateway and every processor', async () => {
    for (const gateway of cluster.of('gateway')) {
      const scrape = await cluster.scrape(gateway);
      expect(scrape.samples('switchyard_worker_up').size).toBeGreaterThanOrEqual(2);
      expect(scrape.sum('switchyard_requests_accepted_total')).toBe(
        scrape.sum('scheduler_requests_total'),
      );
    }
    const claimed = await Promise.all(
      cluster
        .of('processor')
        .map(async member => (await cluster.scrape(member)).sum('jobs_processed_total')),
    );
    expect(claimed.reduce((sum, count) => sum + count, 0)).toBe(1);
  });

  it('refuses a second cluster in the same folder', async () => {
    const { spawnSync } = await import('node:child_process');
    const args = [
      'scripts/up.mjs',
      '--topology',
      'cluster',
      '--no-install',
      '--port',
      '1',
      '--data',
      cluster.folder,
    ];
    const second = spawnSync(process.execPath, args, {
      encoding: 'utf8',
      env: { ...process.env, NODE_OPTIONS: '' },
    });
    expect([second.status, second.stderr]).toEqual([
      1,
      expect.stringContaining('A cluster runs in'),
    ]);
  }, 60_000);

  it('stops on Ctrl-C with 0, and nothing is left running', async () => {
    const pids = cluster.members.map(({ pid }) => pid!);
    expect(await cluster.stop()).toBe(0);
    expect(pids.filter(isAlive)).toEqual([]);
    expect(cluster.output).toContain('Stopped.');
  }, 60_000);
});

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { isAlive } from '@switchyard/engine-api/process/is-alive.js';
import OpenAI, { toFile } from 'openai';
import { ClusterProcess } from '../support/cluster-process.js';
import { freePort } from '../support/free-port.js';
import { openaiAt } from '../support/openai-at.js';
import { fetchFirstModels, heard, SENTENCE } from '../support/real-models.js';
import { redisClient } from '../support/redis-client.js';
import { describeWith, POSTGRES, REDIS } from '../support/requires.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const first = await fetchFirstModels();

describeWith(
  REDIS,
  POSTGRES,
  first,
)('npm run up -- --topology cluster, with the first models', () => {
  let cluster: ClusterProcess;
  let openai: OpenAI;

  beforeAll(async () => {
    cluster = await ClusterProcess.start(first.models);
    openai = openaiAt(cluster.url, { timeout: 120_000 });
  }, 120_000);
  afterAll(async () => cluster[Symbol.asyncDispose](), 60_000);

  it('runs two gateways, two workers of each model, two processors, Redis and PostgreSQL', () => {
    const names = cluster.members.map(({ name }) => name);
    expect(names).toEqual([
      ...[
        'redis',
        'postgres',
        'moonshine-tiny-en-1',
        'moonshine-tiny-en-2',
        'piper-en-joe-1',
        'piper-en-joe-2',
      ],
      ...['gateway-1', 'gateway-2', 'processor-1', 'processor-2'],
    ]);
  });

  it('speaks, and understands what it spoke, with the official SDK', async () => {
    const body = { model: 'tts-1', voice: 'alloy', input: SENTENCE };
    const spoken = Buffer.from(await (await openai.audio.speech.create(body)).arrayBuffer());
    const file = await toFile(spoken, 'fox.mp3');
    const { text } = await openai.audio.transcriptions.create({ file, model: 'whisper-1' });
    expect(heard(text)).toBeGreaterThanOrEqual(4);
  }, 120_000);

  it('has its files and speech pulled from Redis, each model from its own queue', async () => {
    const redis = redisClient(`redis://127.0.0.1:${cluster.of('redis')[0]!.port}`);
    // Jobs go when they are answered; what happened to them stays in the event stream
    // of their queue for a minute.
    const streams = await redis.keys('switchyard:requests-*:events');
    expect(streams).toHaveLength(2);
    for (const stream of streams)
      expect((await redis.xrange(stream, '-', '+')).flat(2)).toContain('completed');
    redis.disconnect();
  });

  it('tells metrics of every gateway and every processor', async () => {
    for (const gateway of cluster.of('gateway')) {
      const scrape = await cluster.scrape(gateway);
      expect(scrape.samples('switchyard_worker_up').size).toBeGreaterThanOrEqual(2);
      expect(scrape.sum('switchyard_requests_accepted_total')).toBe(
        scrape.sum('scheduler_requests_total'),
      );
    }
    for (const processor of cluster.of('processor'))
      expect((await cluster.scrape(processor)).sum('total_workers')).toBeGreaterThan(0);
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

  it('refuses to start without a model, and names the command that adds one', async () => {
    const { spawnSync } = await import('node:child_process');
    const folder = temporaryFolder();
    const models = join(folder, 'models.yaml');
    writeFileSync(models, 'models: []\n');
    const port = String(await freePort());
    const args = ['scripts/up.mjs', '--topology', 'cluster', '--no-install', '--port', port];
    const started = spawnSync(process.execPath, [...args, '--data', join(folder, 'cluster')], {
      encoding: 'utf8',
      env: { ...process.env, NODE_OPTIONS: '', SWITCHYARD_WORKERS_MODELS_FILE: models },
    });
    expect([started.status, started.stderr]).toEqual([
      1,
      expect.stringContaining(`${models} names none. Add some first: npx switchyard models add`),
    ]);
  }, 60_000);

  it('stops on Ctrl-C with 0, and nothing is left running', async () => {
    const pids = cluster.members.map(({ pid }) => pid!);
    expect(await cluster.stop()).toBe(0);
    expect(pids.filter(isAlive)).toEqual([]);
    expect(cluster.output).toContain('Stopped.');
  }, 60_000);
});

import { readdir, readFile } from 'node:fs/promises';
import { constants, getPriority } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { isAlive } from '@switchyard/engine-api/process/is-alive.js';
import { PostgresServer } from '../../support/postgres-server.js';
import { Product } from '../../support/product.js';
import { S3Server } from '../../support/s3-server.js';
import { syntheticModel } from '../../support/synthetic-model.js';
import { pause } from '../../support/waiting.js';
import { KeysFolder } from '../auth/keys-folder.js';
import { SdkRoundTrip } from './sdk-round-trip.js';

const MODELS = [syntheticModel({})];
const EMBEDDED = { 'batch.embedded': 'true', 'batch.poll_ms': 200 } as const;

interface Health {
  readonly status: string;
  readonly batch_processor: {
    readonly state: string;
    readonly pid?: number;
    readonly restarts: number;
  };
}

const processorOf = async (product: Product) =>
  (await product.json<Health>('/health')).batch_processor;

async function withProcessor(product: Product): Promise<number> {
  await product.until(
    'a batch processor',
    async () => (await processorOf(product)).state === 'ready',
  );
  return (await processorOf(product)).pid!;
}

/** Database, blobs, work folders: all files in one. */
async function bytesUnder(folder: string): Promise<Buffer> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries
    .filter(entry => entry.isFile())
    .map(entry => join(entry.parentPath, entry.name));
  return Buffer.concat(await Promise.all(files.map(file => readFile(file))));
}

async function untilGone(pid: number): Promise<void> {
  while (isAlive(pid)) await pause(20);
}

describe('the built gateway with its batch processor', () => {
  it('serves it on PostgreSQL and S3', async () => {
    await using postgres = await PostgresServer.start();
    await using s3 = await S3Server.start();
    const { bucket, prefix, region, endpoint, credentials } = s3.options;
    process.env.AWS_ACCESS_KEY_ID = credentials!.accessKeyId;
    process.env.AWS_SECRET_ACCESS_KEY = credentials!.secretAccessKey;
    await using product = await Product.hosted(MODELS, {
      ...EMBEDDED,
      'database.url': postgres.url(),
      'blobs.driver': 's3',
      'blobs.s3_bucket': bucket,
      'blobs.s3_prefix': prefix,
      'blobs.s3_region': region,
      'blobs.s3_endpoint': endpoint!,
      'blobs.s3_path_style': 'true',
    });
    await withProcessor(product);
    await new SdkRoundTrip(product.url).run();
  }, 180_000);

  it('runs a low-priority processor, replaces it when it dies, reports it, serves requests meanwhile', async () => {
    await using product = await Product.hosted(MODELS, EMBEDDED);
    const pid = await withProcessor(product);
    expect(getPriority(pid)).toBeGreaterThanOrEqual(constants.priority.PRIORITY_BELOW_NORMAL);
    process.kill(pid, 'SIGKILL');
    await untilGone(pid);
    expect((await product.transcribe('meanwhile')).status).toBe(200);
    await product.until('another processor', async () => {
      const { state, pid: next, restarts } = await processorOf(product);
      return state === 'ready' && next !== pid && restarts === 1;
    });
  }, 120_000);

  it('leaves no processor behind: neither after SIGTERM nor when it is killed itself', async () => {
    for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
      await using product = await Product.hosted(MODELS, EMBEDDED);
      const pid = await withProcessor(product);
      product.gateway.process.child.kill(signal);
      await untilGone(pid);
    }
  }, 120_000);

  it('runs lines with keys for their tenant; other tenants see nothing, and no key or token is stored', async () => {
    const keys = new KeysFolder();
    const [acme, other] = [keys.add('acme', 'inference'), keys.add('other', 'inference')];
    const ops = keys.add('ops', 'admin');
    await using product = await Product.hosted(MODELS, {
      ...EMBEDDED,
      'auth.keys_file': keys.file,
    });
    const trip = new SdkRoundTrip(product.url, acme);
    await product.until('a batch processor', async () => {
      const answer = await fetch(`${product.url}/health`, {
        headers: { authorization: `Bearer ${ops}` },
      });
      return ((await answer.json()) as Health).batch_processor.state === 'ready';
    });
    await trip.run();
    const stranger = new SdkRoundTrip(product.url, other).client;
    expect((await stranger.batches.list()).data).toEqual([]);
    expect((await stranger.files.list()).data).toEqual([]);
    const batch = (await trip.client.batches.list()).data.at(-1);
    for (const reach of [
      () => stranger.batches.retrieve(batch!.id),
      () => stranger.batches.cancel(batch!.id),
      () => stranger.files.content(batch!.input_file_id),
      () => stranger.files.retrieve(batch!.output_file_id!),
      () => stranger.files.delete(batch!.output_file_id!),
    ])
      await expect(reach()).rejects.toMatchObject({ status: 404 });
    const kept = await bytesUnder(join(product.folder, 'data'));
    expect(kept.includes(acme.slice(0, 20))).toBe(false);
    expect(kept.includes('Bearer ')).toBe(false);
  }, 120_000);
});

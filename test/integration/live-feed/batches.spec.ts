import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type LiveBatch } from '../../../src/contracts/events/live-event.js';
import { type BatchJob } from '../../../src/core/jobs/batch-job.js';
import { JobClaims } from '../../../src/platform/database/job-claims.js';
import { JobStore } from '../../../src/platform/database/job-store.js';
import { formOf } from '../../support/form-of.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { GatewayRig, until } from '../api/gateway-rig.js';
import { bearer, KeysFolder } from '../auth/keys-folder.js';
import { FeedClient } from './feed-client.js';

let folder: KeysFolder;
let data: string;
let one: GatewayRig;
let other: GatewayRig;
const keys = { acme: '', other: '' };

beforeAll(async () => {
  folder = new KeysFolder();
  keys.acme = folder.add('acme', 'inference', 'events');
  keys.other = folder.add('other', 'inference', 'events');
  data = temporaryFolder();
  const settings = { 'auth.keys_file': folder.file, 'data.dir': data };
  one = await GatewayRig.start({ models: [], settings });
  other = await GatewayRig.start({ models: [], settings });
});
afterAll(async () => {
  await one.close();
  await other.close();
});

/** Made through one gateway, as a client does. */
async function newBatch(): Promise<string> {
  const form = formOf({ purpose: 'batch' }, '{}\n', 'lines.jsonl');
  const headers = bearer(keys.acme);
  const file = (await (await one.post('/v1/files', form, { headers })).json()) as {
    id: string;
  };
  const order = {
    endpoint: '/v1/embeddings',
    completion_window: '24h',
    input_file_id: file.id,
  };
  return ((await (await one.post('/v1/batches', order, { headers })).json()) as { id: string }).id;
}

const jobs = (): JobStore => one.app.get(JobStore, { strict: false });
const claims = (): JobClaims => one.app.get(JobClaims, { strict: false });

/** As a processor somewhere does. */
async function claimed(id: string) {
  const leased = await claims().claim('spec', 60_000);
  expect(leased?.job.id).toBe(id);
  const update = (change: Partial<Pick<BatchJob, 'status' | 'counts'>>) =>
    claims().update(id, leased!.epoch, change, Date.now());
  return update;
}

describe('the room of a batch', () => {
  it('tells what its row says, on every gateway, until it ends', async () => {
    const id = await newBatch();
    using client = await FeedClient.connect(other.url, keys.acme);
    const view = (): LiveBatch | undefined =>
      client.state(`batch:${id}`)[id] as LiveBatch | undefined;
    const { found, snapshots } = await client.join(`batch:${id}`);
    expect(found).toBe(true);
    expect(snapshots).toHaveLength(1);
    expect(view()).toMatchObject({
      id,
      status: 'validating',
      request_counts: { total: 0, completed: 0, failed: 0 },
    });
    const update = await claimed(id);
    await update({
      status: 'in_progress',
      counts: { total: 10, completed: 4, failed: 1 },
    });
    await until(() => view()?.request_counts.completed === 4);
    expect(view()?.status).toBe('in_progress');
    await update({ status: 'finalizing' });
    await update({
      status: 'completed',
      counts: { total: 10, completed: 9, failed: 1 },
    });
    await until(() => view()?.status === 'completed');
    expect(client.gaps).toBe(0);
  });

  it('looks like an unknown one to other tenants', async () => {
    const id = await newBatch();
    using stranger = await FeedClient.connect(one.url, keys.other);
    using owner = await FeedClient.connect(one.url, keys.acme);
    expect(await stranger.join(`batch:${id}`)).toMatchObject({
      found: false,
      snapshots: [],
    });
    expect(await owner.join(`batch:${id}`)).toMatchObject({ found: true });
    const update = await claimed(id);
    await update({ status: 'in_progress' });
    await until(() => (owner.state(`batch:${id}`)[id] as LiveBatch).status === 'in_progress');
    expect([stranger.deltas, await stranger.sync(`batch:${id}`)]).toMatchObject([
      [],
      { found: false },
    ]);
    await update({ status: 'failed' });
  });

  it('is heard of when the batch is made after somebody listens', async () => {
    using client = await FeedClient.connect(one.url, keys.acme);
    await client.join('batch:batch_later');
    const id = 'batch_later';
    const job = (await jobs().find('acme', await newBatch()))!;
    await jobs().create({ ...job, id });
    await until(() => client.state(`batch:${id}`)[id] !== undefined);
  });
});

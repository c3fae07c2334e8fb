import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { PostgresServer } from '../../support/postgres-server.js';
import { S3Server } from '../../support/s3-server.js';
import { errorOf } from '../api/gateway-rig.js';
import { answerOf, JobsRig } from './jobs-rig.js';

let postgres: PostgresServer;
let s3: S3Server;
let rig: JobsRig;

beforeAll(async () => {
  [postgres, s3] = [await PostgresServer.start(), await S3Server.start()];
  const { bucket, prefix, region, endpoint, credentials } = s3.options;
  process.env.AWS_ACCESS_KEY_ID = credentials!.accessKeyId;
  process.env.AWS_SECRET_ACCESS_KEY = credentials!.secretAccessKey;
  rig = await JobsRig.start({
    'database.url': postgres.url(),
    'blobs.driver': 's3',
    'blobs.s3_bucket': bucket,
    'blobs.s3_prefix': prefix,
    'blobs.s3_region': region,
    'blobs.s3_endpoint': endpoint!,
    'blobs.s3_path_style': true,
  });
}, 120_000);

afterAll(async () => {
  await rig.close();
  await s3[Symbol.asyncDispose]();
  await postgres[Symbol.asyncDispose]();
});

const unavailable = { status: 503, code: 'storage_unavailable', type: 'server_error' };

async function expectUnavailable(answer: Promise<Response>): Promise<void> {
  const error = await errorOf(answer);
  expect(error).toMatchObject(unavailable);
  expect(error.headers.get('retry-after')).toMatch(/^([5-9]|10)$/);
}

describe('files and batches', () => {
  it('answer 503 with Retry-After while the database is away, and go on when it is back', async () => {
    const batch = await rig.batch();
    const get = (path: string) => fetch(`${rig.url}/v1/${path}`);
    await postgres.kill();
    const before = await rig.blobKeys();
    for (const answer of [
      ...[
        get('batches'),
        get(`batches/${batch.id}`),
        get('files'),
        get(`files/${batch.input_file_id}/content`),
      ],
      ...[rig.create({ input_file_id: batch.input_file_id }), rig.upload('x')],
      rig.gateway.post('/v1/uploads', {
        bytes: 1,
        filename: 'a',
        mime_type: 'text/plain',
        purpose: 'evals',
      }),
    ])
      await expectUnavailable(answer);
    expect(await rig.blobKeys()).toEqual(before);
    await postgres.launch();
    expect(await answerOf(get(`batches/${batch.id}`))).toMatchObject({
      id: batch.id,
      status: 'validating',
    });
    await rig.batch();
  }, 120_000);

  it('answer 503 with Retry-After while the bucket is away, and go on when it is back', async () => {
    const { id } = await rig.file('kept');
    await s3.kill();
    await expectUnavailable(rig.upload('x'));
    await expectUnavailable(rig.content(id));
    await s3.launch();
    expect(await (await rig.content(id)).text()).toBe('kept');
    await rig.file('x');
  }, 120_000);

  it('count operations on the bucket, the garbage collector separately, and not what a caller aborts', async () => {
    const count = async (operation: string, status: string, component = 'apiserver') =>
      (await rig.gateway.metric(
        `file_storage_operations_total{operation="${operation}",component="${component}",status="${status}"}`,
      )) || 0;
    const [stored, exhausted] = [
      await count('store', 'success'),
      await count('store', 'exhausted'),
    ];
    expect(exhausted).toBeGreaterThan(0);
    const { id } = await rig.file('x');
    await (await rig.content(id)).text();
    expect((await rig.upload('', { purpose: 'batch' })).status).toBe(400);
    expect((await rig.upload('x', { purpose: 'party' })).status).toBe(400);
    expect(await count('store', 'exhausted')).toBe(exhausted);
    expect(await count('store', 'success')).toBeGreaterThan(stored);
    expect(await count('retrieve', 'success')).toBeGreaterThan(0);
    expect((await fetch(`${rig.url}/v1/files/${id}`, { method: 'DELETE' })).status).toBe(200);
    expect(await count('delete', 'success')).toBeGreaterThan(0);
    expect(await count('delete', 'success', 'garbage-collector')).toBe(0);
  });
});

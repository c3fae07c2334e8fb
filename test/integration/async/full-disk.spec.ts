import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { FixtureWorker, script } from '../../support/fixture-worker.js';
import { formOf } from '../../support/form-of.js';
import { SmallDisk } from '../../support/small-disk.js';
import { errorOf, GatewayRig, until } from '../api/gateway-rig.js';
import { sttModel } from '../api/models.js';

const worker = new FixtureWorker({ model: 'stt' });
let disk: SmallDisk;
let rig: GatewayRig;

beforeAll(async () => {
  disk = SmallDisk.mount();
  rig = await GatewayRig.start({
    models: [
      sttModel({
        ...{
          addresses: [`127.0.0.1:${await worker.start()}`],
          capabilities: ['transcribe', 'prompt'],
        },
      }),
    ],
    settings: { 'data.dir': join(disk.path, 'data') },
  });
  await rig.ready('stt');
}, 60_000);
afterAll(async () => {
  await rig.close();
  worker.stop();
  disk[Symbol.dispose]();
});

const ask = (bytes: number, headers: Record<string, string>, prompt = ''): Promise<Response> =>
  rig.post('/v1/audio/transcriptions', formOf({ model: 'stt', prompt }, Buffer.alloc(bytes)), {
    headers,
  });
const keep = (bytes: number, headers: Record<string, string>, prompt?: string): Promise<Response> =>
  ask(bytes, { prefer: 'respond-async', ...headers }, prompt);
const blobs = async (): Promise<string[]> => {
  const entries = await readdir(join(disk.path, 'data'), {
    recursive: true,
    withFileTypes: true,
  });
  return entries
    .filter(entry => entry.isFile() && entry.parentPath.includes('blobs'))
    .map(({ name }) => name);
};

describe('respond-async on a disk without room', () => {
  it('is 507 storage_full, which no client tries again by itself, and leaves nothing of the body behind', async () => {
    const counted = () => rig.metric('switchyard_http_errors_total{area="api",status="507"}');
    const before = (await counted()) || 0;
    const error = await errorOf(keep(9 * 1_048_576, { 'idempotency-key': 'too-much' }));
    expect(error).toMatchObject({ status: 507, code: 'storage_full' });
    expect(await counted()).toBe(before + 1);
    expect(error.headers.get('x-should-retry')).toBe('false');
    await until(async () => (await blobs()).length === 0);
  });

  it('is 507 when not even the request can be written down; with room again the same key is taken', async () => {
    await disk.fill();
    const error = await errorOf(keep(200_000, { 'idempotency-key': 'full' }));
    expect(error).toMatchObject({ status: 507, code: 'storage_full' });
    await disk.makeRoom();
    const taken = await keep(1000, { 'idempotency-key': 'too-much' });
    expect(taken.status).toBe(202);
    const location = taken.headers.get('location')!;
    await until(
      async () => ((await rig.json(location)) as { state: string }).state === 'completed',
    );
  });
});

describe('an answer that finds no room', () => {
  it('is 507 for a caller who waits with a key', async () => {
    const waiting = errorOf(
      ask(1000, { 'idempotency-key': 'no-room', 'x-request-id': 'no-room' }, script.hold),
    );
    await until(() => worker.holding.includes('no-room'));
    await disk.fill();
    worker.release('no-room');
    expect(await waiting).toMatchObject({ status: 507, code: 'storage_full' });
    await disk.makeRoom();
  });

  it('is made once more for one who does not wait: accepted work does not fail for want of room', async () => {
    expect((await keep(1000, { 'x-request-id': 'later' }, script.hold)).status).toBe(202);
    await until(() => worker.holding.includes('later'));
    await disk.fill();
    worker.release('later');
    await until(() => !worker.holding.includes('later'));
    await until(() => worker.holding.includes('later'));
    await disk.makeRoom();
    worker.release('later');
    const view = async () =>
      (await rig.json('/v1/requests/later')) as { status: string; status_code: number };
    await until(async () => (await view()).status !== 'running');
    expect(await view()).toMatchObject({ status: 'completed', status_code: 200 });
  });
});

import { open, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type HubError } from '../../../src/cli/models/hub/hub-error.js';
import { readManifest } from '../../../src/cli/models/hub/model-store.js';
import { HubServer } from '../../support/hub-server.js';
import { MODEL, PullRig, sha256 } from './pull-rig.js';

const ENCODER = 'onnx/encoder.onnx';
const encoder = MODEL[ENCODER]!;

let rig: PullRig;
beforeEach(async () => {
  rig = await PullRig.start();
});
afterEach(() => rig[Symbol.asyncDispose]());

/** A pull so ordered ends with such an error. */
const refused = (
  kind: HubError['kind'],
  message = '',
  order?: Parameters<PullRig['pull']>[0],
): Promise<void> =>
  expect(rig.pull(order)).rejects.toMatchObject({
    kind,
    message: expect.stringContaining(message),
  });
const encoded = { include: [ENCODER] };
const bytesReceived = () =>
  rig.events.reduce((sum, event) => sum + (event.type === 'received' ? Number(event.bytes) : 0), 0);

describe('a pull', () => {
  it('brings every file, checked, with a manifest and nothing else', async () => {
    const manifest = await rig.pull();
    expect(await rig.names()).toEqual([
      'config.json',
      'onnx/decoder.onnx',
      ENCODER,
      'switchyard-model.json',
    ]);
    expect(await readFile(join(rig.folder, ENCODER))).toEqual(encoder);
    expect(manifest).toMatchObject({
      source: 'hf:acme/tiny@main',
      revision: 'c0ffee',
      complete: true,
    });
    expect(manifest.files.map(({ path, size, sha256: hex }) => [path, size, hex])).toEqual(
      Object.entries(MODEL).map(([path, bytes]) => [path, bytes.length, sha256(bytes)]),
    );
    expect(await readManifest(rig.folder)).toEqual(manifest);
  });

  it('asks for nothing that is there, and for one file that was damaged since', async () => {
    await rig.pull();
    await writeFile(join(rig.folder, ENCODER), Buffer.alloc(encoder.length));
    rig.hub.seen.length = 0;
    await rig.pull();
    expect(
      rig.hub.seen.filter(({ path }) => path.startsWith('/cdn/')).map(({ path }) => path),
    ).toEqual([`/cdn/${ENCODER}`]);
    expect(await readFile(join(rig.folder, ENCODER))).toEqual(encoder);
  });

  it('takes only the files that --include names, and adds others later', async () => {
    await rig.pull({ include: ['*.json'] });
    expect(await rig.names()).toEqual(['config.json', 'switchyard-model.json']);
    const { files } = await rig.pull({ include: ['onnx/enc*'] });
    expect(files.map(({ path }) => path)).toEqual(['config.json', ENCODER]);
    await refused('order', 'matches none of 3 files: config.json', { include: ['*.gguf'] });
  });

  it('continues a cut connection where it ended, by Range and If-Range', async () => {
    rig.hub.script(ENCODER, { kind: 'stall', bytes: 100_000 });
    await rig.pull();
    const [first, second] = rig.hub.downloads(ENCODER);
    expect(first?.range).toBeUndefined();
    expect(second).toMatchObject({
      range: expect.stringMatching(/^bytes=[1-9]\d*-$/),
      ifRange: expect.stringMatching(/^"/),
    });
    expect(await readFile(join(rig.folder, ENCODER))).toEqual(encoder);
    expect(rig.waits).toEqual([1000]);
  });

  it('begins again when the file changed meanwhile (ETag)', async () => {
    const url = `${rig.hub.url}/cdn/encoder.bin`;
    rig.hub.files.set('encoder.bin', encoder);
    rig.hub.script('encoder.bin', { kind: 'stall', bytes: 100_000 });
    const changed = Buffer.from(encoder).reverse();
    const timing = {
      sleep: () => Promise.resolve(void rig.hub.files.set('encoder.bin', changed)),
      random: () => 1,
    };
    await rig.pull({ from: url, timing });
    expect(await readFile(join(rig.folder, 'encoder.bin'))).toEqual(changed);
  });

  it('begins again when the rest does not fit the beginning, which the checksum tells', async () => {
    rig.hub.script(ENCODER, { kind: 'stall', bytes: 100_000 });
    const timing = {
      sleep: async () => {
        if (rig.hub.downloads(ENCODER).length > 1) return;
        const handle = await open(join(rig.folder, `${ENCODER}.partial`), 'r+');
        await handle.write(Buffer.from('other'), 0, 5, 0);
        await handle.close();
      },
      random: () => 1,
    };
    await rig.pull({ include: [ENCODER], timing });
    expect(rig.hub.downloads(ENCODER).map(({ range }) => range !== undefined)).toEqual([
      false,
      true,
      false,
    ]);
    expect(await readFile(join(rig.folder, ENCODER))).toEqual(encoder);
  });

  it('waits as long as Retry-After says at 429, also at the API', async () => {
    rig.hub.script('api', {
      kind: 'status',
      status: 429,
      headers: { 'retry-after': '7' },
    });
    rig.hub.script(ENCODER, {
      kind: 'status',
      status: 429,
      headers: { 'retry-after': '3' },
    });
    await rig.pull(encoded);
    expect(rig.waits).toEqual([7000, 3000]);
    expect(rig.events).toContainEqual({
      type: 'waiting',
      path: ENCODER,
      ms: 3000,
      why: expect.stringContaining('429'),
    });
  });

  it('gives up after 5 attempts that brought nothing', async () => {
    rig.hub.script(
      ENCODER,
      ...Array.from({ length: 5 }, () => ({ kind: 'status', status: 503 }) as const),
    );
    await refused('refused', '', encoded);
    expect(rig.waits).toEqual([1000, 2000, 4000, 8000]);
  });

  it('takes a server that stops sending for a cut one', async () => {
    rig.cutting = false;
    rig.hub.script(ENCODER, { kind: 'stall', bytes: 50_000 });
    await rig.pull({ include: [ENCODER], stallMs: 200 });
    expect(rig.hub.downloads(ENCODER)[1]?.range).toMatch(/^bytes=[1-9]\d*-$/);
  });

  it('leaves no second file behind when the first fails, and the beginnings for the next time', async () => {
    rig.cutting = false;
    rig.hub.script(ENCODER, { kind: 'stall', bytes: 50_000 });
    rig.hub.script('onnx/decoder.onnx', { kind: 'status', status: 404 });
    await refused('not_found');
    expect((await readManifest(rig.folder))?.complete).toBe(false);
    expect(await rig.names()).not.toContain(ENCODER);
    await rig.pull();
    expect(await readFile(join(rig.folder, ENCODER))).toEqual(encoder);
  });
});

describe('a pull is refused', () => {
  it('when the bytes have another checksum, and nothing of them stays', async () => {
    rig.hub.announced.set(ENCODER, { sha256: '0'.repeat(64) });
    await refused('checksum', `got ${sha256(encoder)}`, encoded);
    expect(await rig.names()).toEqual(['switchyard-model.json']);
  });

  it('at the first byte beyond the announced size, and nothing of it stays', async () => {
    rig.cutting = false;
    rig.hub.script(ENCODER, { kind: 'endless' });
    await refused('checksum', `more than the ${encoder.length} bytes`, encoded);
    expect(bytesReceived()).toBeLessThanOrEqual(encoder.length);
    expect(await rig.names()).toEqual(['switchyard-model.json']);
  });

  it('when a file without a size has more than half of the free disk, and nothing of it stays', async () => {
    rig.cutting = false;
    rig.hub.script('encoder.bin', { kind: 'endless' });
    const freeBytes = () => Promise.resolve(1_000_000);
    const from = `${rig.hub.url}/cdn/encoder.bin`;
    await refused('checksum', 'more than half of the free disk, 500000 bytes', { from, freeBytes });
    expect(bytesReceived()).toBeLessThanOrEqual(500_000);
    expect(await rig.names()).toEqual(['switchyard-model.json']);
  });

  it('when it comes compressed, whose size says nothing, and when a name is no text', async () => {
    rig.hub.script(ENCODER, {
      kind: 'endless',
      headers: { 'content-encoding': 'gzip' },
    });
    await refused('refused', '', encoded);
    rig.hub.announced.set(ENCODER, { rfilename: { a: 1 } });
    await refused('refused', 'no text');
  });

  it('when its list of files has more than 16 MiB', async () => {
    const files = { 'switchyard-model.json': Buffer.alloc(17 * 1024 * 1024, ' ') };
    await using hub = await HubServer.start({ files });
    await refused('refused', '', { from: `${hub.url}/cdn/switchyard-model.json` });
  });

  it('when a small file is not the git blob that the hub names', async () => {
    rig.hub.script('config.json', { kind: 'body', body: Buffer.from('{"d_model":9}') });
    await refused('checksum', '', { include: ['config.json'] });
  });

  it('when --sha256 is not that of the file', async () => {
    rig.hub.files.set('encoder.bin', encoder);
    const plain = `${rig.hub.url}/cdn/encoder.bin`;
    await refused('checksum', '', { from: plain, sha256: '1'.repeat(64) });
    await rig.pull({ from: plain, sha256: sha256(encoder) });
  });

  it.each([
    '../evil',
    '/etc/evil',
    'a/../../evil',
    'a\\..\\evil',
    'C:evil',
    'a//b',
    'x.partial',
    'a\u0000b',
  ])('when the API names a file %j', async rfilename => {
    rig.hub.announced.set(ENCODER, { rfilename });
    await refused('refused', 'nothing was');
    await expect(stat(rig.folder)).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('when a folder of the model is a link to elsewhere', async () => {
    await rig.pull({ include: ['config.json'] });
    await symlink(rig.root, join(rig.folder, 'onnx'));
    await refused('refused', 'is a link');
  });

  it('with a word about tokens when the repository is gated; the token goes to the hub only', async () => {
    await rig[Symbol.asyncDispose]();
    rig = await PullRig.start({ token: 'secret' });
    await refused('gated', '--token-file');
    await refused('gated', 'the token that was sent has no access', { token: 'wrong' });
    await rig.pull({ token: 'secret' });
    expect(await readFile(join(rig.folder, ENCODER))).toEqual(encoder);
  });

  it('when there is no such repository', async () => {
    await refused('not_found', '', { from: 'hf:acme/none' });
  });

  it('before the first byte when the disk has no room, saying how much must go', async () => {
    await refused('disk_full', 'has 97.7 KiB free and 488.3 KiB are needed: free 390.6 KiB', {
      freeBytes: () => Promise.resolve(100_000),
    });
    expect(rig.hub.downloads(ENCODER)).toEqual([]);
  });

  it('when the disk fills up on the way (ENOSPC)', async () => {
    // Linux's own full disk: every write to it is ENOSPC.
    const openFile = () => open('/dev/full', 'w');
    await refused('disk_full', 'what came so far is kept', { openFile, include: [ENCODER] });
  });

  it('when another pull is filling the folder', async () => {
    rig.cutting = false;
    rig.hub.script(ENCODER, { kind: 'stall', bytes: 1000 });
    const first = rig.pull(encoded);
    await rig.hub.stalled;
    await refused('order', `process ${process.pid}`);
    rig.abort.abort(new Error('stopped'));
    await expect(first).rejects.toThrow('stopped');
  });

  it('when nobody listens there, at once and by the name of the host', async () => {
    const gone = await HubServer.start({ files: {} });
    const from = `${gone.url}/encoder.onnx`;
    await gone[Symbol.asyncDispose]();
    await refused('unreachable', '', { from });
    expect(rig.waits).toEqual([]);
  });
});

describe('a manifest', () => {
  it('lets any web server offer a pulled folder', async () => {
    const { files } = await rig.pull();
    rig.hub.files.set(
      'switchyard-model.json',
      Buffer.from(JSON.stringify({ revision: 'v2', files })),
    );
    const from = `${rig.hub.url}/cdn/switchyard-model.json`;
    rig.hub.files.set('config.json', Buffer.from('{"d_model":7}'));
    await expect(
      rig.pull({ from, folder: join(rig.root, 'second'), include: ['config.json'] }),
    ).rejects.toMatchObject({
      kind: 'checksum',
    });
    rig.hub.files.set('config.json', MODEL['config.json']!);
    const second = await rig.pull({
      from,
      folder: join(rig.root, 'second'),
      include: ['config.json'],
    });
    expect(second).toMatchObject({ revision: 'v2', complete: true });
  });
});

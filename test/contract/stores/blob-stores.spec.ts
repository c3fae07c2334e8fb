import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type BlobStore } from '../../../src/core/jobs/job.ports.js';
import { FsBlobStore } from '../../../src/platform/storage/fs-blob-store.js';
import { S3BlobStore } from '../../../src/platform/storage/s3-blob-store.js';
import { NoDescriptors } from '../../support/no-descriptors.js';
import { S3Server } from '../../support/s3-server.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

async function* pieces(...parts: (string | Uint8Array)[]): AsyncGenerator<Uint8Array> {
  for (const part of parts)
    yield await Promise.resolve(typeof part === 'string' ? Buffer.from(part) : part);
}

async function* broken(): AsyncGenerator<Uint8Array> {
  yield await Promise.resolve(Buffer.alloc(20 * 1_048_576));
  throw new Error('the source broke');
}

async function contents(
  blobs: BlobStore,
  key: string,
  range?: { from: number; to: number },
): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of blobs.read(key, range)) chunks.push(chunk);
  return Buffer.concat(chunks);
}

async function keysOf(blobs: BlobStore, prefix: string) {
  const keys: string[] = [];
  for await (const { key } of blobs.keys(prefix)) keys.push(key);
  return keys.sort();
}

/** What every blob store does. */
function blobStoreContract(store: () => BlobStore) {
  const textOf = async (key: string) => (await contents(store(), key)).toString();

  it('gives back what was written, in pieces of any size, and its size', async () => {
    expect(await store().write('a/b.txt', pieces('one ', '', 'two'))).toBe(7);
    expect(await textOf('a/b.txt')).toBe('one two');
    expect(await store().size('a/b.txt')).toBe(7);
  });

  it('takes an empty blob', async () => {
    expect(await store().write('empty', pieces())).toBe(0);
    expect([await store().size('empty'), (await contents(store(), 'empty')).length]).toEqual([
      0, 0,
    ]);
  });

  it('takes 20 MiB in odd pieces and gives back a range across them', async () => {
    const bytes = Buffer.alloc(20 * 1_048_576, 'switchyard ');
    const cut = 8 * 1_048_576 + 3;
    expect(await store().write('large', pieces(bytes.subarray(0, cut), bytes.subarray(cut)))).toBe(
      bytes.length,
    );
    expect(await contents(store(), 'large', { from: cut - 5, to: cut + 5 })).toEqual(
      bytes.subarray(cut - 5, cut + 6),
    );
    expect((await contents(store(), 'large')).equals(bytes)).toBe(true);
  });

  it('replaces a blob as a whole', async () => {
    await store().write('twice', pieces('a longer first'));
    await store().write('twice', pieces('second'));
    expect(await textOf('twice')).toBe('second');
  });

  it('leaves nothing of a write that breaks', async () => {
    await expect(store().write('half', broken())).rejects.toThrow('the source broke');
    expect(await store().size('half')).toBeUndefined();
  });

  it('leaves nothing of a write that is aborted', async () => {
    const abort = new AbortController();
    abort.abort(new Error('stopped'));
    await expect(store().write('stopped', pieces('x'), abort.signal)).rejects.toThrow('stopped');
    expect(await store().size('stopped')).toBeUndefined();
  });

  it('says which blob is missing, and removes what is not there without complaint', async () => {
    await store().remove('nothing');
    expect(await store().size('nothing')).toBeUndefined();
    await expect(contents(store(), 'nothing')).rejects.toThrow('There is no blob nothing');
  });

  it('lists keys under a prefix, with the time of writing', async () => {
    await store().write('list/a', pieces('1'));
    await store().write('list/sub/b', pieces('2'));
    await store().write('listing', pieces('3'));
    await store().remove('list/a');
    expect(await keysOf(store(), 'list/')).toEqual(['list/sub/b']);
    for await (const { writtenAtMs } of store().keys('list/'))
      expect(Date.now() - writtenAtMs).toBeLessThan(60_000);
    expect(await keysOf(store(), 'nowhere/')).toEqual([]);
  });

  it('joins blobs in order', async () => {
    await store().write('parts/1', pieces('one '));
    await store().write('parts/2', pieces('two'));
    const both = store().readAll(['parts/1', 'parts/2']);
    expect(await store().write('joined', both)).toBe(7);
    expect(await textOf('joined')).toBe('one two');
  });

  it.each(['../escape', '/absolute', 'a//b', 'a/../b', 'UPPER', '', 'a/.hidden', 'x'.repeat(201)])(
    'refuses the key %j',
    async key => {
      await expect(store().write(key, pieces('x'))).rejects.toThrow('Not a blob key');
    },
  );
}

/** Whatever its library throws, the caller meets one of two errors (D-52). */
async function expectOutage(store: BlobStore, code: string) {
  const asked = {
    write: store.write('a/b', pieces('x')),
    read: contents(store, 'a/b'),
    size: store.size('a/b'),
    remove: store.remove('a/b'),
    keys: keysOf(store, 'a/'),
  };
  const ends = await Promise.allSettled(Object.values(asked));
  const codes = ends.map(end =>
    end.status === 'rejected' ? (end.reason as { code: string }).code : end.status,
  );
  expect(Object.fromEntries(Object.keys(asked).map((name, at) => [name, codes[at]]))).toEqual(
    Object.fromEntries(Object.keys(asked).map(name => [name, code])),
  );
}

describe('FsBlobStore', () => {
  const folder = temporaryFolder();
  const store = new FsBlobStore(folder);
  blobStoreContract(() => store);

  it('keeps no drafts', async () => {
    await store.write('draft', broken()).catch(() => undefined);
    expect(readdirSync(join(folder, '.unfinished'))).toEqual([]);
  });

  it('whose folder is no folder says storage_unavailable for every operation', async () => {
    writeFileSync(join(folder, 'file'), '');
    await expectOutage(new FsBlobStore(join(folder, 'file')), 'storage_unavailable');
  });

  it('says so without free descriptors (EMFILE)', async () => {
    await store.write('there', pieces('x'));
    const none = await NoDescriptors.take();
    try {
      const asked = [store.write('new', pieces('x')), contents(store, 'there')];
      for (const { status, ...end } of await Promise.allSettled(asked)) {
        expect(status).toBe('rejected');
        expect(end).toMatchObject({
          reason: { code: 'storage_unavailable', cause: { code: 'EMFILE' } },
        });
      }
    } finally {
      await none[Symbol.asyncDispose]();
    }
  });
});

describe('S3BlobStore', () => {
  let server: S3Server;
  let store: S3BlobStore;
  beforeAll(async () => {
    server = await S3Server.start();
    store = new S3BlobStore(server.options);
  });
  afterAll(async () => {
    store.close();
    await server[Symbol.asyncDispose]();
  });
  blobStoreContract(() => store);

  it.each(['killed', 'refusing our credentials'])(
    '%s, says storage_unavailable for every operation',
    async how => {
      const credentials = { accessKeyId: 'other', secretAccessKey: 'other' };
      const other = new S3BlobStore({
        ...server.options,
        ...(how !== 'killed' && { credentials }),
      });
      if (how === 'killed') await server.kill();
      try {
        await expectOutage(other, 'storage_unavailable');
      } finally {
        other.close();
        if (how === 'killed') await server.launch();
      }
    },
  );
});

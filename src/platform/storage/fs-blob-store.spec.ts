import { readdir, rmdir, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { temporaryFolder } from '../../../test/support/temporary-folder.js';
import { FsBlobStore } from './fs-blob-store.js';

let folder: string;
let store: FsBlobStore;

beforeEach(() => {
  folder = temporaryFolder();
  store = new FsBlobStore(folder);
});

describe('what is still being written', () => {
  it('is not listed, and is removed when it has not grown since', async () => {
    const begun = Promise.withResolvers<void>();
    const rest = Promise.withResolvers<void>();
    async function* slow() {
      yield Buffer.from('first');
      begun.resolve();
      await rest.promise;
    }
    const writing = store.write('kept/slow', slow());
    await begun.promise;
    expect(await Array.fromAsync(store.keys(''))).toEqual([]);
    expect(await store.removeDrafts(Date.now() - 60_000)).toBe(0);
    expect(await store.removeDrafts(Date.now() + 60_000)).toBe(1);
    rest.resolve();
    await expect(writing).rejects.toThrow();
  });
});

const bytes = () => Readable.from([Buffer.from('bytes')]);

describe('a blob', () => {
  const read = async (key: string, range?: { from: number; to: number }) =>
    Buffer.concat(await Array.fromAsync(store.read(key, range))).toString();
  const keys = async (prefix: string) =>
    (await Array.fromAsync(store.keys(prefix))).map(({ key }) => key).sort();

  it('is a file of its user, with as many bytes as were written', async () => {
    expect(await store.write('kept/a', bytes())).toBe(5);
    expect((await stat(join(folder, 'kept/a'))).mode & 0o777).toBe(0o600);
    expect([await read('kept/a'), await read('kept/a', { from: 1, to: 3 })]).toEqual([
      ...['bytes', 'yte'],
    ]);
    expect([await store.size('kept/a'), await store.size('kept/b')]).toEqual([5, undefined]);
    await expect(read('kept/b')).rejects.toThrow('There is no blob kept/b.');
    await store.remove('kept/b');
    expect(await store.write('empty', Readable.from([]))).toBe(0);
  });

  it('is found by the beginning of its key', async () => {
    for (const key of ['kept/1/body', 'kept/10/body', 'kept/2', 'other'])
      await store.write(key, bytes());
    expect(await keys('kept/1')).toEqual(['kept/1/body', 'kept/10/body']);
    expect(await keys('kept/1/')).toEqual(['kept/1/body']);
    expect(await keys('k')).toEqual(['kept/1/body', 'kept/10/body', 'kept/2']);
    expect(await keys('none/')).toEqual([]);
  });

  it('that could not be written leaves no draft; one that is as old as the limit stays', async () => {
    const broken = Readable.from(
      (async function* () {
        yield await Promise.resolve(Buffer.from('x'));
        throw new Error('the source broke');
      })(),
    );
    await expect(store.write('kept/a', broken)).rejects.toThrow('the source broke');
    expect(await readdir(join(folder, '.unfinished'))).toEqual([]);
    const draft = join(folder, '.unfinished', 'draft');
    await writeFile(draft, 'x');
    await utimes(draft, 1000, 1000);
    expect(await store.removeDrafts(1_000_000)).toBe(0);
    expect(await store.removeDrafts(1_000_001)).toBe(1);
    expect(await readdir(join(folder, '.unfinished'))).toEqual([]);
  });
});

describe('the folders of blobs', () => {
  it('go with the last blob in them, and stay while there is another', async () => {
    for (const key of ['kept/1/body', 'kept/1/answer', 'kept/2/body'])
      await store.write(key, bytes());
    await store.remove('kept/1/body');
    expect(await readdir(join(folder, 'kept'))).toEqual(['1', '2']);
    await store.remove('kept/1/answer');
    expect(await readdir(join(folder, 'kept'))).toEqual(['2']);
    await store.remove('kept/2/body');
    expect(await readdir(folder)).toEqual(['.unfinished']);
  });

  it('are made again under a writer when a remover empties them: 300 writes beside 300 removals succeed', async () => {
    const writing = Array.from({ length: 300 }, (_, index) =>
      store.write(`kept/x/${index}`, bytes()),
    );
    const removing = writing.map(async (written, index) => {
      await written;
      await store.remove(`kept/x/${index}`);
    });
    await Promise.all(removing);
    expect(await readdir(folder)).toEqual(['.unfinished']);
    await store.write('kept/x/last', bytes());
    expect(await store.size('kept/x/last')).toBe(5);
  });

  it('may go at any moment, also between two steps of making them: 400 writes beside removers succeed', async () => {
    let writing = true;
    const remover = async () => {
      while (writing)
        for (const path of ['kept/x', 'kept'])
          await rmdir(join(folder, path)).catch(() => undefined);
    };
    const writer = async (name: number) => {
      for (let index = 0; index < 100; index++) {
        await store.write(`kept/x/${name}`, bytes());
        await store.remove(`kept/x/${name}`);
      }
    };
    const removers = [remover(), remover()];
    try {
      await Promise.all([0, 1, 2, 3].map(writer));
    } finally {
      writing = false;
      await Promise.all(removers);
    }
  });
});

describe('a key that leaves the folder', () => {
  it.each<[string, (key: string) => Promise<unknown>]>([
    ['written', key => store.write(key, bytes())],
    ['read', key => Array.fromAsync(store.read(key))],
    ['measured', key => store.size(key)],
    ['removed', key => store.remove(key)],
  ])('is not %s', async (_, use) => {
    await writeFile(join(folder, '..', 'outside'), '');
    await expect(use('../outside')).rejects.toThrow('key');
  });
});

import { beforeEach, expect, it } from '@jest/globals';
import { BlobAdapter } from './blob-adapter.js';
import { BlobMissing } from './storage-problems.js';

let fault: Error | undefined;
let asked: unknown[][];

/** Its library throws `fault`. */
class Store extends BlobAdapter {
  protected async put(_key: string, bytes: AsyncIterable<Uint8Array>): Promise<number> {
    const { length } = Buffer.concat(await Array.fromAsync(bytes));
    return fault === undefined ? length : Promise.reject(fault);
  }
  protected async *get(...call: unknown[]): AsyncIterable<Uint8Array> {
    asked.push(call);
    yield await this.#answer(Buffer.from('x'));
  }
  protected measure = () => this.#answer(7);
  protected erase = (...call: unknown[]) => this.#answer(void asked.push(call));
  protected async *list(prefix: string) {
    yield await this.#answer({ key: `${prefix}1`, writtenAtMs: 1 });
  }
  removeDrafts = () => Promise.resolve(0);
  #answer = <T>(answer: T): Promise<T> =>
    fault === undefined ? Promise.resolve(answer) : Promise.reject(fault);
}

const store = new Store();
beforeEach(() => void ([fault, asked] = [undefined, []]));

async function* pieces(error?: Error) {
  yield await Promise.resolve(Buffer.from('ab'));
  if (error) throw error;
}

const operations = {
  write: (key: string) => store.write(key, pieces()),
  read: (key: string) => Array.fromAsync(store.read(key)),
  size: (key: string) => store.size(key),
  remove: (key: string) => store.remove(key),
};

it('passes on what it is asked', async () => {
  expect(await store.write('a/b', pieces())).toBe(2);
  expect(await Array.fromAsync(store.read('a/b', { from: 1, to: 2 }))).toHaveLength(1);
  expect(await store.size('a/b')).toBe(7);
  await store.remove('a/b');
  expect(asked).toEqual([['a/b', { from: 1, to: 2 }], ['a/b']]);
  expect(await Array.fromAsync(store.keys('a/'))).toEqual([{ key: 'a/1', writtenAtMs: 1 }]);
});

it.each(Object.entries(operations))('refuses what is no key to %s', async (_, act) => {
  await expect(act('../x')).rejects.toThrow('Not a blob key');
});

it.each([...Object.entries(operations), ['keys', () => Array.fromAsync(store.keys(''))] as const])(
  'says storage_unavailable or storage_full when its library fails to %s',
  async (_, act) => {
    fault = new Error('reset');
    await expect(act('a/b')).rejects.toMatchObject({ code: 'storage_unavailable', cause: fault });
    fault = Object.assign(new Error('full'), { code: 'ENOSPC' });
    await expect(act('a/b')).rejects.toMatchObject({ code: 'storage_full' });
  },
);

it('passes a missing blob, a broken source and the reason of the signal as they are', async () => {
  fault = new BlobMissing('a/b');
  await expect(operations.read('a/b')).rejects.toBe(fault);
  const broke = new Error('the source broke');
  await expect(store.write('a/b', pieces(broke))).rejects.toBe(broke);
  fault = new Error('reset');
  await expect(store.write('a/b', pieces(broke))).rejects.toBe(broke);
  const reason = new Error('stopped');
  const signal = AbortSignal.abort(reason);
  await expect(store.write('a/b', pieces(), signal)).rejects.toBe(reason);
  fault = undefined;
  await expect(store.write('a/b', pieces(), signal)).rejects.toBe(reason);
});

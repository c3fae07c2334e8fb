import { expect, it } from '@jest/globals';
import { type FactoryProvider } from '@nestjs/common';
import { type BlobStore } from '../../../core/jobs/job.ports.js';
import { API_BLOBS, COUNTED_BLOBS, GARBAGE_BLOBS } from './counted-blobs.js';

it('requests and the garbage collector use the same blobs, and are counted apart', async () => {
  const removed: string[] = [];
  const counted: unknown[][] = [];
  const blobs = { remove: (key: string) => Promise.resolve(void removed.push(key)) };
  const operations = { count: (...of: unknown[]) => void counted.push(of) };
  const storeOf = (token: symbol) => {
    const found = (COUNTED_BLOBS as readonly FactoryProvider<BlobStore>[]).find(
      ({ provide }) => provide === token,
    );
    return found!.useFactory(blobs, operations) as BlobStore;
  };
  await storeOf(API_BLOBS).remove('a');
  await storeOf(GARBAGE_BLOBS).remove('b');
  expect(removed).toEqual(['a', 'b']);
  expect(counted).toEqual([
    ['apiserver', 'delete', 'success'],
    ['garbage-collector', 'delete', 'success'],
  ]);
});

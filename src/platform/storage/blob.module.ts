import { join } from 'node:path';
import { Global, Module } from '@nestjs/common';
import { BlobStore } from '../../core/jobs/job.ports.js';
import { Settings } from '../config/settings.js';
import { StartError } from '../config/start-error.js';
import { FsBlobStore } from './fs-blob-store.js';
import { StorageOperations } from './storage.metrics.js';

@Global()
@Module({
  providers: [
    { provide: BlobStore, useFactory: blobStoreFrom, inject: [Settings] },
    StorageOperations,
  ],
  exports: [BlobStore, StorageOperations],
})
export class BlobModule {}

/** @throws StartError when S3 is chosen without a bucket. */
export async function blobStoreFrom({
  blobs,
  data,
}: Pick<Settings, 'blobs' | 'data'>): Promise<BlobStore> {
  if (blobs.driver === 'fs') return new FsBlobStore(join(data.dir, 'blobs'));
  if (blobs.s3Bucket === '')
    throw new StartError('blobs.driver is s3: blobs.s3_bucket must name a bucket.');
  // A client of S3 takes as long to load as a small worker: only who needs it
  // waits for it.
  const { S3BlobStore } = await import('./s3-blob-store.js');
  return new S3BlobStore({
    bucket: blobs.s3Bucket,
    prefix: blobs.s3Prefix,
    region: blobs.s3Region,
    pathStyle: blobs.s3PathStyle,
    endpoint: blobs.s3Endpoint || undefined,
  });
}

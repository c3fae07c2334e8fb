import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { type BlobStore } from '../../core/jobs/job.ports.js';
import { DATABASE_PING } from '../../platform/database/database.tokens.js';
import { DependencyMonitor } from '../../platform/dependencies/dependency-monitor.js';
import { BLOB_STORE } from '../../platform/storage/blob.module.js';

const EVERY_MS = 5000;
/** No blob has this key: asking for its size reaches the folder or the bucket, and reads nothing. */
const NO_BLOB = 'probe/none';

/** Has the database and the blob store probed: files, batches and stored requests need them, everything else is served without. */
@Injectable()
export class StoreProbes implements OnModuleInit {
  constructor(
    private readonly monitor: DependencyMonitor,
    @Inject(DATABASE_PING) private readonly ping: () => Promise<unknown>,
    @Inject(BLOB_STORE) private readonly blobs: BlobStore,
  ) {}

  onModuleInit(): void {
    this.monitor.watch('database', { probe: this.ping, everyMs: EVERY_MS });
    this.monitor.watch('blobs', { probe: () => this.blobs.size(NO_BLOB), everyMs: EVERY_MS });
  }
}

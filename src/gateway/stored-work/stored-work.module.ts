import { Module } from '@nestjs/common';
import { DatabaseModule } from '../../platform/database/database.module.js';
import { BlobModule } from '../../platform/storage/blob.module.js';
import { CancellationModule } from '../cancellation/cancellation.module.js';
import { LifecycleModule } from '../lifecycle/lifecycle.module.js';
import { SchedulerModule } from '../scheduler/scheduler.module.js';
import { StorageRetries } from './storage-retries.js';
import { StoredAnswers } from './stored-answers.js';
import { StoredLeases } from './stored-leases.js';
import { StoredWork } from './stored-work.js';
import { WorkRuns } from './work-runs.js';

/** Work whose answer outlives its connection, or has none. */
@Module({
  imports: [DatabaseModule, BlobModule, CancellationModule, LifecycleModule, SchedulerModule],
  providers: [StorageRetries, StoredAnswers, StoredLeases, StoredWork, WorkRuns],
  exports: [StorageRetries, StoredAnswers, StoredLeases, StoredWork, WorkRuns],
})
export class StoredWorkModule {}

import { Module } from '@nestjs/common';
import { DatabaseModule } from '../../platform/database/database.module.js';
import { BlobModule } from '../../platform/storage/blob.module.js';
import { LifecycleModule } from '../lifecycle/lifecycle.module.js';
import { SchedulerModule } from '../scheduler/scheduler.module.js';
import { AsyncRequests } from './async-requests.js';
import { IdempotencyService } from './idempotency.service.js';
import { InnerRequests } from './inner-requests.js';
import { Replays } from './replays.js';
import {
  CancellationsController,
  RequestsController,
  StoredContentController,
} from './requests.controller.js';
import { StorageRetries } from './storage-retries.js';
import { StoredAnswers } from './stored-answers.js';
import { StoredLeases } from './stored-leases.js';
import { StoredRequestsService } from './stored-requests.service.js';

/**
 * Lookup and cancel by id, and requests whose answers outlive their connections: `Prefer:
 * respond-async`, `Idempotency-Key`, retries by request id.
 */
@Module({
  imports: [DatabaseModule, BlobModule, LifecycleModule, SchedulerModule],
  controllers: [CancellationsController, RequestsController, StoredContentController],
  providers: [
    AsyncRequests,
    InnerRequests,
    StorageRetries,
    StoredAnswers,
    IdempotencyService,
    StoredLeases,
    StoredRequestsService,
    Replays,
  ],
  exports: [AsyncRequests, InnerRequests, StorageRetries, StoredLeases],
})
export class RequestsModule {}

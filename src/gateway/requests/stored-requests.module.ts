import { Module } from '@nestjs/common';
import { DatabaseModule } from '../../platform/database/database.module.js';
import { BlobModule } from '../../platform/storage/blob.module.js';
import { SchedulerModule } from '../scheduler/scheduler.module.js';
import { AsyncRequests } from './async-requests.js';
import { InnerRequests } from './inner-requests.js';
import { KeptAnswers } from './stored-answers.js';
import { KeptContentController } from './stored-content.controller.js';
import { KeptDesk } from './idempotency.service.js';
import { KeptLeases } from './stored-leases.js';
import { KeptRequestsService } from './stored-requests.service.js';
import { Replays } from './replays.js';

/** Requests whose answers outlive their connections: `Prefer: respond-async`, `Idempotency-Key`, retries by request id. */
@Module({
  imports: [DatabaseModule, BlobModule, SchedulerModule],
  controllers: [KeptContentController],
  providers: [AsyncRequests, InnerRequests, KeptAnswers, KeptDesk, KeptLeases, KeptRequestsService, Replays],
  exports: [InnerRequests, KeptDesk, KeptRequestsService],
})
export class AsyncModule {}

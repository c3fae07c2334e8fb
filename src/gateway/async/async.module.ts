import { Module } from '@nestjs/common';
import { DatabaseModule } from '../../platform/database/database.module.js';
import { BlobModule } from '../../platform/storage/blob.module.js';
import { SchedulerModule } from '../scheduler/scheduler.module.js';
import { AsyncRequests } from './async-requests.js';
import { InnerRequests } from './inner-requests.js';
import { KeptAnswers } from './kept-answers.js';
import { KeptContentController } from './kept-content.controller.js';
import { KeptDesk } from './kept-desk.js';
import { KeptLeases } from './kept-leases.js';
import { KeptRequestsService } from './kept-requests.service.js';
import { Replays } from './replays.js';

/** Requests whose answers outlive their connections: `Prefer: respond-async`, `Idempotency-Key`, retries by request id. */
@Module({
  imports: [DatabaseModule, BlobModule, SchedulerModule],
  controllers: [KeptContentController],
  providers: [AsyncRequests, InnerRequests, KeptAnswers, KeptDesk, KeptLeases, KeptRequestsService, Replays],
  exports: [InnerRequests, KeptDesk, KeptRequestsService],
})
export class AsyncModule {}

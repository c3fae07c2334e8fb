import { Module } from '@nestjs/common';
import { SchedulerModule } from '../scheduler/scheduler.module.js';
import { StoredWorkModule } from '../stored-work/stored-work.module.js';
import { AsyncRequests } from './async-requests.js';
import { CancellationsController } from './cancellations.controller.js';
import { IdempotencyService } from './idempotency.service.js';
import { InnerRequests } from './inner-requests.js';
import { Replays } from './replays.js';
import { RequestsController } from './requests.controller.js';
import { StoredContentController } from './stored-content.controller.js';
import { StoredRequestsService } from './stored-requests.service.js';

/**
 * Lookup and cancel by id, and requests whose answers outlive their connections: `Prefer:
 * respond-async`, `Idempotency-Key`, retries by request id.
 */
@Module({
  imports: [SchedulerModule, StoredWorkModule],
  controllers: [CancellationsController, RequestsController, StoredContentController],
  providers: [AsyncRequests, InnerRequests, IdempotencyService, StoredRequestsService, Replays],
  exports: [InnerRequests, StoredWorkModule],
})
export class RequestsModule {}

import { Module } from '@nestjs/common';
import { DatabaseModule } from '../../platform/database/database.module.js';
import { LifecycleModule } from '../lifecycle/lifecycle.module.js';
import { LimitsModule } from '../limits/limits.module.js';
import { ModelsModule } from '../models/models.module.js';
import { RequestsModule } from '../requests/requests.module.js';
import { SchedulerModule } from '../scheduler/scheduler.module.js';
import { TextModule } from '../text/text.module.js';
import { BackgroundResponses, BackgroundRunner } from './background-responses.js';
import { Conversations } from './conversations.js';
import { NativeResponses } from './native-responses.js';
import { ResponseEventLog } from './response-event-log.js';
import { ResponseExpiry } from './response-expiry.js';
import { ResponseFeed } from './response-feed.js';
import { ResponseRecords } from './response-records.js';
import { ResponseRuns } from './response-runs.js';
import { ResponsesController } from './responses.controller.js';
import { ResponsesGateway } from './responses.gateway.js';
import { openResponsesMetric } from './responses.metrics.js';
import { StoredResponsesController } from './stored-responses.controller.js';

/**
 * `/v1/responses`, stored and background responses. Without `responses.store` none are
 * stored; those of before are still served.
 */
@Module({
  imports: [
    DatabaseModule,
    LimitsModule,
    ModelsModule,
    RequestsModule,
    LifecycleModule,
    SchedulerModule,
    TextModule,
  ],
  controllers: [ResponsesController, StoredResponsesController],
  providers: [
    BackgroundResponses,
    BackgroundRunner,
    Conversations,
    NativeResponses,
    ResponseEventLog,
    ResponseExpiry,
    ResponseFeed,
    ResponseRecords,
    ResponseRuns,
    ResponsesGateway,
    openResponsesMetric,
  ],
})
export class ResponsesModule {}

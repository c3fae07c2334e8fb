import { Module } from '@nestjs/common';
import { DatabaseModule } from '../../platform/database/database.module.js';
import { LifecycleModule } from '../lifecycle/lifecycle.module.js';
import { LimitsModule } from '../limits/limits.module.js';
import { ModelsModule } from '../models/models.module.js';
import { RequestsModule } from '../requests/requests.module.js';
import { SchedulerModule } from '../scheduler/scheduler.module.js';
import { TextModule } from '../text/text.module.js';
import { BackgroundResponses, BackgroundRunner } from './background/background-responses.js';
import { NativeResponses } from './native-responses.js';
import { ResponsesController } from './responses.controller.js';
import { ResponsesGateway } from './socket/responses.gateway.js';
import { Conversations } from './stored/conversations.js';
import { ResponseEventLog } from './stored/response-event-log.js';
import { ResponseExpiry } from './stored/response-expiry.js';
import { ResponseFeed } from './stored/response-feed.js';
import { ResponseRecords } from './stored/response-records.js';
import { ResponseRuns } from './stored/response-runs.js';
import { openResponsesMetric } from './stored/responses.metrics.js';
import { StoredResponsesController } from './stored/stored-responses.controller.js';

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

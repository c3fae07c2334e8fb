import { Global, Module } from '@nestjs/common';
import { SETTINGS, type Settings } from '../../../platform/config/settings.js';
import { DatabaseModule } from '../../../platform/database/database.module.js';
import { ModelsModule } from '../../models/models.module.js';
import { RequestsModule } from '../../requests/requests.module.js';
import { SchedulerModule } from '../../scheduler/scheduler.module.js';
import { TextModule } from '../../text/text.module.js';
import { RESPONSE_STORE, type ResponseStore } from '../response-store.port.js';
import { BackgroundResponses } from './background-responses.js';
import { BackgroundRunner } from './background-runner.js';
import { ResponseEventLog } from './response-event-log.js';
import { ResponseExpiry } from './response-expiry.js';
import { ResponseFeed } from './response-feed.js';
import { ResponseRecords } from './response-records.js';
import { ResponseRuns } from './response-runs.js';
import { ResponseStops } from './response-stops.js';
import { RESPONSE_METRICS } from './responses.metrics.js';
import { StoredResponsesController } from './stored-responses.controller.js';

const storeOf = (
  { responses }: Settings,
  records: ResponseRecords,
  background: BackgroundResponses,
  feed: ResponseFeed,
): ResponseStore | undefined =>
  responses.store
    ? {
        demandRoom: tenant => records.demandRoom(tenant),
        conversation: (tenant, id) => records.conversation(tenant, id),
        items: (tenant, ids) => records.items(tenant, ids),
        save: (tenant, stored) => records.create(tenant, stored),
        startBackground: work => background.start(work),
        events: (tenant, id, after, signal) => feed.follow({ tenant, id }, after, signal),
      }
    : undefined;

/**
 * Stored and background responses. Without `responses.store` none are made; those of
 * before are still served.
 */
@Global()
@Module({
  imports: [DatabaseModule, ModelsModule, RequestsModule, SchedulerModule, TextModule],
  controllers: [StoredResponsesController],
  providers: [
    BackgroundResponses,
    BackgroundRunner,
    ResponseEventLog,
    ResponseExpiry,
    ResponseFeed,
    ResponseRecords,
    ResponseRuns,
    ResponseStops,
    ...RESPONSE_METRICS,
    {
      provide: RESPONSE_STORE,
      useFactory: storeOf,
      inject: [SETTINGS, ResponseRecords, BackgroundResponses, ResponseFeed],
    },
  ],
  exports: [RESPONSE_STORE],
})
export class StoredResponsesModule {}

import { Module } from '@nestjs/common';
import { RedisModule } from '../../platform/redis/redis.module.js';
import { InferenceModule } from '../inference/inference.module.js';
import { LimitsModule } from '../limits/limits.module.js';
import { ModelsModule } from '../models/models.module.js';
import { SchedulerModule } from '../scheduler/scheduler.module.js';
import { WorkerPoolModule } from '../worker-pool/worker-pool.module.js';
import { WrittenFormModule } from '../written-form/written-form.module.js';
import { ClientSecretsController } from './client-secrets.controller.js';
import { ClientSecrets } from './client-secrets.js';
import { SessionJournals } from './journal/session-journals.js';
import { RealtimeJournal } from './realtime-journal.js';
import { RealtimeSessions } from './realtime-sessions.js';
import { RealtimeGateway } from './realtime.gateway.js';
import { realtimeMetricProviders } from './realtime.metrics.js';
import { SessionDoor } from './session-door.js';
import { SessionMaker } from './session-maker.js';
import { AdminSessionsController } from './sessions.controller.js';
import { Speaker } from './speaker.js';
import { UpgradeModule } from './upgrade.module.js';
import { WithdrawnKeys } from './withdrawn-keys.js';

/** Live speech in, live speech out: `/v1/realtime`. Streams never queue; spoken answers go through the scheduler. */
@Module({
  imports: [
    InferenceModule,
    LimitsModule,
    ModelsModule,
    RedisModule,
    SchedulerModule,
    WrittenFormModule,
    WorkerPoolModule,
    UpgradeModule,
  ],
  controllers: [ClientSecretsController, AdminSessionsController],
  providers: [
    RealtimeGateway,
    SessionDoor,
    RealtimeSessions,
    SessionMaker,
    SessionJournals,
    WithdrawnKeys,
    RealtimeJournal,
    ClientSecrets,
    Speaker,
    ...realtimeMetricProviders,
  ],
})
export class RealtimeModule {}

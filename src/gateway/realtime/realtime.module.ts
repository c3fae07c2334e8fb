import { Module } from '@nestjs/common';
import { RedisModule } from '../../platform/redis/redis.module.js';
import { InferenceModule } from '../inference/inference.module.js';
import { LatencyModule } from '../latency/latency.module.js';
import { LifecycleModule } from '../lifecycle/lifecycle.module.js';
import { LimitsModule } from '../limits/limits.module.js';
import { ModelsModule } from '../models/models.module.js';
import { SchedulerModule } from '../scheduler/scheduler.module.js';
import { WorkerPoolModule } from '../worker-pool/worker-pool.module.js';
import { WrittenFormModule } from '../written-form/written-form.module.js';
import { ClientSecretsController } from './client-secrets.controller.js';
import { ClientSecrets } from './client-secrets.js';
import { SessionJournals } from './journal/session-journals.js';
import { RealtimeSessions } from './realtime-sessions.js';
import { RealtimeGateway } from './realtime.gateway.js';
import { activeSessions } from './realtime.metrics.js';
import { InterimPasses } from './session/interim-passes.js';
import { Recognisers } from './session/recognisers.js';
import { SessionActivity } from './session/session-activity.js';
import { SessionServices } from './session/session-services.js';
import { AdminSessionsController } from './sessions.controller.js';

/**
 * Live speech in, live speech out: `/v1/realtime`. Streams never queue; spoken answers go
 * through the scheduler.
 */
@Module({
  imports: [
    InferenceModule,
    LatencyModule,
    LimitsModule,
    ModelsModule,
    RedisModule,
    LifecycleModule,
    SchedulerModule,
    WrittenFormModule,
    WorkerPoolModule,
  ],
  controllers: [ClientSecretsController, AdminSessionsController],
  providers: [
    RealtimeGateway,
    RealtimeSessions,
    SessionServices,
    SessionJournals,
    SessionActivity,
    InterimPasses,
    Recognisers,
    ClientSecrets,
    activeSessions,
  ],
  exports: [SessionActivity],
})
export class RealtimeModule {}

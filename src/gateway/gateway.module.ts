import { type DynamicModule, Module } from '@nestjs/common';
import { AuthModule } from '../platform/auth/auth.module.js';
import { ClockModule } from '../platform/clock/clock.module.js';
import { ConfigModule } from '../platform/config/config.module.js';
import { type ModelSpec } from '../platform/config/model-spec.js';
import { type SettingSources } from '../platform/config/setting-source.js';
import { type Settings } from '../platform/config/settings.js';
import { EventsModule } from '../platform/events/events.module.js';
import { LoggingModule } from '../platform/logging/logging.module.js';
import { metricsModule } from '../platform/metrics/metric-provider.js';
import { TracingModule } from '../platform/tracing/tracing.module.js';
import { type OpenInProcessWorker } from '../worker-client/in-process-worker.js';
import { AdminAccessModule } from './admin/access.module.js';
import { AdminModule } from './admin/admin.module.js';
import { AdminStatusModule } from './admin/status/status.module.js';
import { AudioModule } from './audio/audio.module.js';
import { ConsoleModule } from './console/console.module.js';
import { HealthModule } from './health/health.module.js';
import { HttpModule } from './http/http.module.js';
import { JobsModule } from './jobs/jobs.module.js';
import { MetricsController } from './jobs/processor/metrics.controller.js';
import { LimitsModule } from './limits/limits.module.js';
import { LiveFeedModule } from './live-feed/live-feed.module.js';
import { MessagesModule } from './messages/messages.module.js';
import { ModelsModule } from './models/models.module.js';
import { OllamaModule } from './ollama/ollama.module.js';
import { RealtimeModule } from './realtime/realtime.module.js';
import { RequestsModule } from './requests/requests.module.js';
import { ResponsesModule } from './responses/responses.module.js';
import { TextModule } from './text/text.module.js';
import { WhisperAsrModule } from './whisper-asr/whisper-asr.module.js';
import { InProcessWorkersModule } from './worker-pool/worker-pool.module.js';

/** The gateway: schedules, never computes. */
@Module({})
export class GatewayModule {
  static forRoot(
    settings: Settings,
    models: readonly ModelSpec[],
    read?: () => readonly ModelSpec[],
    sources?: SettingSources,
    inProcessWorkers?: OpenInProcessWorker,
  ): DynamicModule {
    return {
      module: GatewayModule,
      imports: [
        ConfigModule.forRoot(settings, models, read, sources),
        ClockModule,
        InProcessWorkersModule.forRoot(inProcessWorkers),
        AuthModule,
        EventsModule,
        TracingModule.forService('switchyard-gateway'),
        LoggingModule.forRoot({ ...settings.logging, bindings: { role: 'gateway' } }),
        metricsModule(MetricsController, [JobsModule]),
        LimitsModule,
        HttpModule,
        RequestsModule,
        AudioModule,
        WhisperAsrModule,
        TextModule,
        MessagesModule,
        OllamaModule,
        ResponsesModule,
        ModelsModule,
        HealthModule,
        JobsModule,
        AdminModule,
        AdminAccessModule,
        AdminStatusModule,
        RealtimeModule,
        LiveFeedModule,
        ConsoleModule,
      ],
    };
  }
}

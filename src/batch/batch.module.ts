import { type DynamicModule, Module } from '@nestjs/common';
import { type Tracer } from '@opentelemetry/api';
import { ConfigModule } from '../platform/config/config.module.js';
import { type ModelSpec } from '../platform/config/model-spec.js';
import { type ProcessorLink } from '../platform/config/processor-link.js';
import { Settings } from '../platform/config/settings.js';
import { DatabaseModule } from '../platform/database/database.module.js';
import { LoggingModule } from '../platform/logging/logging.module.js';
import { BlobModule } from '../platform/storage/blob.module.js';
import { TRACER } from '../platform/tracing/tracing.module.js';
import { BATCH_METRICS } from './batch.metrics.js';
import { ExecuteService } from './execute/execute.service.js';
import { LineDispatcher } from './execute/line-dispatcher.js';
import { LineSender } from './execute/line-sender.js';
import { LogShipping } from './execute/log-shipping.js';
import { TargetResolver, targetResolver } from './execute/target-resolver.js';
import { WebhookSender } from './finalize/webhook-sender.js';
import { IngestService } from './ingest/ingest.service.js';
import { ResultFiles } from './job/result-files.js';
import { LineGrace } from './lease/job-stop.js';
import { JobTraces } from './observe/job-traces.js';
import { BatchProcessor } from './runner/batch-processor.js';
import { BatchRunner } from './runner/batch-runner.js';
import { JobSupervisor } from './runner/job-supervisor.js';

/** The batch processor. It has no HTTP server and imports neither gateway nor worker. */
@Module({})
export class BatchModule {
  /** @param link from the gateway that started this process */
  static forProcessor(
    settings: Settings,
    models: readonly ModelSpec[],
    link: ProcessorLink | undefined,
    tracer: Tracer,
  ): DynamicModule {
    const { level, pretty } = settings.logging;
    return {
      module: BatchModule,
      imports: [
        ConfigModule.forRoot(settings, models),
        LoggingModule.forRoot({ level, pretty, bindings: { role: 'batch' } }),
        DatabaseModule,
        BlobModule,
      ],
      providers: [
        { provide: TRACER, useValue: tracer },
        { provide: LineGrace, useFactory: () => graceOf(settings, link) },
        JobTraces,
        { provide: TargetResolver, useFactory: () => targetResolver(settings, link) },
        ...EXECUTION,
        ResultFiles,
        WebhookSender,
        IngestService,
        BatchRunner,
        JobSupervisor,
        BatchProcessor,
        ...BATCH_METRICS,
      ],
    };
  }
}

const EXECUTION = [LineDispatcher, LineSender, LogShipping, ExecuteService];

/** Time to write the last results before the gateway kills its child. */
const FLUSH_MS = 2000;

function graceOf({ batch, server }: Settings, link: ProcessorLink | undefined): LineGrace {
  const limitMs = link ? Math.max(0, server.shutdownGraceMs - FLUSH_MS) : batch.graceMs;
  return new LineGrace(batch.graceMs, Math.min(batch.graceMs, limitMs));
}

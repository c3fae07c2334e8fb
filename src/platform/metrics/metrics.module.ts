import { Module } from '@nestjs/common';
import { PrometheusModule } from '@willsoto/nestjs-prometheus';

/** `GET /metrics`: the table in `registry.ts` plus the process metrics of prom-client. Imported once, by the root module. */
@Module({ imports: [PrometheusModule.register({ path: '/metrics', defaultMetrics: { enabled: true } })] })
export class MetricsModule {}

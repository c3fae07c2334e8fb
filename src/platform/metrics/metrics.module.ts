import {
  type DynamicModule,
  Module,
  type ModuleMetadata,
  type Type,
} from '@nestjs/common';
import { PrometheusModule } from '@willsoto/nestjs-prometheus';

interface MetricsOptions {
  /** Answers `GET /metrics`. */
  readonly controller: Type;
  /** What the controller needs. */
  readonly imports: NonNullable<ModuleMetadata['imports']>;
}

/**
 * The table in `registry.ts`, answered by the controller. Imported once, by the root
 * module. prom-client's metrics of the process begin with the first scrape
 * (`allMetricsText`): their clock wakes an idle process 100 times a second.
 */
@Module({})
export class MetricsModule {
  static forRoot({ controller, imports }: MetricsOptions): DynamicModule {
    const prometheus = PrometheusModule.registerAsync({
      useFactory: () => ({ defaultMetrics: { enabled: false } }),
      controller,
      imports: [...imports],
    });
    return { module: MetricsModule, imports: [prometheus] };
  }
}

import { type DynamicModule, Module, type ModuleMetadata, type Type } from '@nestjs/common';
import { PrometheusModule } from '@willsoto/nestjs-prometheus';

export interface MetricsOptions {
  /** Answers `GET /metrics`. */
  readonly controller: Type;
  /** What the controller needs. */
  readonly imports: NonNullable<ModuleMetadata['imports']>;
}

/** The table in `registry.ts` plus the process metrics of prom-client. Imported once, by the root module. */
@Module({})
export class MetricsModule {
  static forRoot({ controller, imports }: MetricsOptions): DynamicModule {
    const prometheus = PrometheusModule.registerAsync({
      useFactory: () => ({ defaultMetrics: { enabled: true } }),
      controller,
      imports: [...imports],
    });
    return { module: MetricsModule, imports: [prometheus] };
  }
}

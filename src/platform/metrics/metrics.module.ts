import { type DynamicModule, Module, type ModuleMetadata, type Type } from '@nestjs/common';
import { PrometheusModule } from '@willsoto/nestjs-prometheus';
import { register } from 'prom-client';

const ANY_OF_THEM = 'process_cpu_user_seconds_total';

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
      // The registry belongs to the process: a second application in it, as in tests, finds them there.
      useFactory: () => ({ defaultMetrics: { enabled: register.getSingleMetric(ANY_OF_THEM) === undefined } }),
      controller,
      imports: [...imports],
    });
    return { module: MetricsModule, imports: [prometheus] };
  }
}

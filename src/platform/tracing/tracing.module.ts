import { type DynamicModule, Inject, Module, type OnApplicationShutdown } from '@nestjs/common';
import { startTracing, TRACER, type Tracing } from './tracing.js';

const TRACING = Symbol('TRACING');

/** The `Tracer` of a process that is a Nest application; what is left is sent when it ends. */
@Module({})
export class TracingModule implements OnApplicationShutdown {
  constructor(@Inject(TRACING) private readonly tracing: Tracing) {}

  static forService(service: string): DynamicModule {
    return {
      module: TracingModule,
      providers: [
        { provide: TRACING, useFactory: () => startTracing(service) },
        { provide: TRACER, inject: [TRACING], useFactory: ({ tracer }: Tracing) => tracer },
      ],
      exports: [TRACER],
    };
  }

  onApplicationShutdown(): Promise<void> {
    return this.tracing.close();
  }
}

import { type DynamicModule, Module } from '@nestjs/common';
import { LoggerModule } from 'nestjs-pino';
import { type LogOptions, pinoHttpOptions } from './log-options.js';

/**
 * Structured logs (pino). Classes log through Nest's `new Logger(ClassName.name)`; `app.useLogger(app.get(Logger))` with
 * `Logger` of nestjs-pino routes them here, and inside a request every line carries its `requestId`.
 */
@Module({})
export class LoggingModule {
  static forRoot(options: LogOptions): DynamicModule {
    return { module: LoggingModule, imports: [LoggerModule.forRoot({ pinoHttp: pinoHttpOptions(options) })] };
  }
}

import { type DynamicModule, Module } from '@nestjs/common';
import { LoggerModule } from 'nestjs-pino';
import { type DestinationStream } from 'pino';
import { logDestination, type LogOptions, pinoOptions } from './log-options.js';

/**
 * Structured logs (pino). Classes log through Nest's `new Logger(ClassName.name)`; `app.useLogger(app.get(Logger))` with
 * `Logger` of nestjs-pino routes them here, and after `logRequests(fastify)` every line of a request carries its
 * `requestId`.
 */
@Module({})
export class LoggingModule {
  static forRoot(options: LogOptions): DynamicModule {
    const pino = { ...pinoOptions(options), wrapSerializers: false };
    const pinoHttp: [typeof pino, DestinationStream] = [pino, logDestination(options)];
    // Without routes, nestjs-pino gives its logger alone: no middleware, no child logger per request.
    return { module: LoggingModule, imports: [LoggerModule.forRoot({ pinoHttp, forRoutes: [] })] };
  }
}

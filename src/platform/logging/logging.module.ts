import { type DynamicModule, Module } from '@nestjs/common';
import { LoggerModule } from 'nestjs-pino';
import { type DestinationStream } from 'pino';
import { type Options } from 'pino-http';
import { type LogOptions, pinoHttpOptions } from './log-options.js';

/**
 * Structured logs (pino). Classes log through Nest's `new Logger(ClassName.name)`; `app.useLogger(app.get(Logger))` with
 * `Logger` of nestjs-pino routes them here, and inside a request every line carries its `requestId`.
 */
@Module({})
export class LoggingModule {
  static forRoot(options: LogOptions): DynamicModule {
    const http = pinoHttpOptions(options);
    const pinoHttp: [Options, DestinationStream] | Options = options.destination ? [http, options.destination] : http;
    // The default route of nestjs-pino, `{/*splat}`, matches nothing on Nest's Fastify adapter: no request would be logged.
    return { module: LoggingModule, imports: [LoggerModule.forRoot({ pinoHttp, forRoutes: ['*splat'] })] };
  }
}

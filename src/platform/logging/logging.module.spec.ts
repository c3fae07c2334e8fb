import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Controller, Get, Logger, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { Logger as PinoNestLogger } from 'nestjs-pino';
import { LoggingModule } from './logging.module.js';

const sink = new PassThrough();

@Controller()
class Yard {
  private readonly logger = new Logger('Yard');

  @Get('v1/things')
  things(): string {
    this.logger.log('looking');
    return 'ok';
  }

  @Get('health')
  health(): string {
    return 'ok';
  }
}

@Module({
  imports: [LoggingModule.forRoot({ level: 'info', pretty: 'false', destination: sink })],
  controllers: [Yard],
})
class App {}

describe('LoggingModule', () => {
  let app: NestFastifyApplication;
  let started: string;

  beforeEach(async () => {
    const adapter = new FastifyAdapter({ genReqId: () => 'req_7' });
    app = await NestFactory.create<NestFastifyApplication>(App, adapter, { bufferLogs: true });
    app.useLogger(app.get(PinoNestLogger));
    await app.init();
    started = String(sink.read() ?? '');
  });
  afterEach(() => app.close());

  async function linesFor(url: string): Promise<Record<string, unknown>[]> {
    await app.inject({ url });
    const lines = String(sink.read() ?? '').split('\n');
    return lines.filter(Boolean).map(line => JSON.parse(line) as Record<string, unknown>);
  }

  it("gives Nest's own logger and the request line the request's id", async () => {
    const lines = await linesFor('/v1/things?token=secret');
    expect(lines).toMatchObject([
      { msg: 'looking', context: 'Yard', requestId: 'req_7' },
      {
        msg: 'answered',
        requestId: 'req_7',
        req: { method: 'GET', path: '/v1/things' },
        res: { status: 200 },
      },
    ]);
    expect(JSON.stringify(lines)).not.toContain('secret');
  });

  it('keeps what the framework tells about its own start off the info level', () => {
    expect(started).toBe('');
  });

  it('does not log probes', async () => {
    expect(await linesFor('/health')).toEqual([]);
  });
});

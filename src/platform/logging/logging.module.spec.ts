import { once } from 'node:events';
import { request } from 'node:http';
import { type AddressInfo } from 'node:net';
import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Controller, Get, Logger, Module, Param, Res } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { type FastifyReply } from 'fastify';
import { Logger as PinoNestLogger } from 'nestjs-pino';
import { LoggingModule } from './logging.module.js';
import { logRequests } from './request-lines.js';

const sink = new PassThrough();
const arrivals: (() => void)[] = [];

@Controller()
class Harness {
  readonly #logger = new Logger('Harness');

  @Get('v1/things')
  async things(): Promise<string> {
    await Promise.resolve();
    this.#logger.log('looking');
    return 'ok';
  }

  @Get('v1/status/:status')
  status(@Param('status') status: string, @Res() reply: FastifyReply): void {
    void reply.code(Number(status)).send('');
  }

  @Get('v1/silence')
  silence(@Res() _reply: FastifyReply): void {
    arrivals.forEach(arrived => arrived());
  }

  @Get(['health', 'health/ready', 'metrics', 'healthy'])
  health(): string {
    return 'ok';
  }
}

@Module({
  imports: [
    LoggingModule.forRoot({
      level: 'info',
      pretty: 'false',
      destination: sink,
      bindings: { role: 'test' },
    }),
  ],
  controllers: [Harness],
})
class App {}

describe('LoggingModule', () => {
  let app: NestFastifyApplication;
  let started: string;

  beforeEach(async () => {
    const adapter = new FastifyAdapter({ genReqId: () => 'req_7' });
    app = await NestFactory.create<NestFastifyApplication>(App, adapter, { bufferLogs: true });
    app.useLogger(app.get(PinoNestLogger));
    logRequests(app.getHttpAdapter().getInstance());
    await app.init();
    started = String(sink.read() ?? '');
  });
  afterEach(() => app.close());

  function linesNow(): Record<string, unknown>[] {
    const lines = String(sink.read() ?? '').split('\n');
    return lines.filter(Boolean).map(line => JSON.parse(line) as Record<string, unknown>);
  }

  async function linesFor(url: string): Promise<Record<string, unknown>[]> {
    await app.inject({ url, headers: { authorization: 'Bearer sk-secret' } });
    return linesNow();
  }

  it("gives Nest's own logger and the request line the request's id", async () => {
    const lines = await linesFor('/v1/things');
    expect(lines).toMatchObject([
      { msg: 'looking', context: 'Harness', requestId: 'req_7', role: 'test' },
      { msg: 'answered', requestId: 'req_7', role: 'test' },
    ]);
  });

  it('gives lines outside of a request none', () => {
    new Logger('Harness').log('resting');
    expect(linesNow()).toMatchObject([{ msg: 'resting' }]);
    new Logger('Harness').log('resting');
    expect(linesNow()[0]).not.toHaveProperty('requestId');
  });

  it('logs method, path and status, and neither headers nor query strings', async () => {
    const lines = await linesFor('/v1/things?token=sk-secret');
    expect(lines[1]).toMatchObject({
      req: { method: 'GET', path: '/v1/things' },
      res: { status: 200 },
    });
    expect(Object.keys(lines[1]?.req as object)).toEqual(['method', 'path']);
    expect(JSON.stringify(lines)).not.toContain('sk-secret');
  });

  it('logs paths that have no route', async () => {
    expect(await linesFor('/nowhere')).toMatchObject([
      { req: { path: '/nowhere' }, res: { status: 404 } },
    ]);
  });

  it('calls only a failure of our own an error', async () => {
    const told = [];
    for (const status of [400, 499, 503, 500])
      told.push(...(await linesFor(`/v1/status/${status}`)));
    expect(told.map(({ level, msg }) => [level, msg])).toEqual([
      [30, 'answered'],
      [30, 'answered'],
      [30, 'failed to answer'],
      [50, 'failed to answer'],
    ]);
  });

  it('logs a client that left before its answer', async () => {
    await app.listen(0, '127.0.0.1');
    const { port } = app.getHttpServer().address() as AddressInfo;
    const arrived = new Promise<void>(resolve => arrivals.push(resolve));
    const call = request({ port, host: '127.0.0.1', path: '/v1/silence' }).on(
      'error',
      () => undefined,
    );
    call.end();
    await arrived;
    call.destroy();
    await once(sink, 'readable');
    expect(linesNow()).toMatchObject([
      { msg: 'client gone', req: { path: '/v1/silence' }, requestId: 'req_7' },
    ]);
  });

  it('keeps what the framework logs about its own start off the info level', () => {
    expect(started).toBe('');
  });

  it('leaves probes and scrapes out', async () => {
    for (const path of ['/health', '/health/ready', '/metrics', '/metrics?x=1'])
      expect(await linesFor(path)).toEqual([]);
    expect(await linesFor('/healthy')).toHaveLength(1);
  });
});

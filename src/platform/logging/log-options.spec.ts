import { PassThrough } from 'node:stream';
import { once } from 'node:events';
import { createServer, type IncomingMessage, request } from 'node:http';
import { type AddressInfo } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { pinoHttp } from 'pino-http';
import { pinoHttpOptions } from './log-options.js';

/** Log lines written while one real request is answered with `status`. */
async function linesFor(path: string, status = 200): Promise<Record<string, unknown>[]> {
  const sink = new PassThrough();
  const middleware = pinoHttp(pinoHttpOptions({ level: 'info', pretty: 'false', bindings: { role: 'test' } }), sink);
  const server = createServer((incoming, response) => {
    Object.assign(incoming, { id: 'req_1' });
    middleware(incoming, response);
    incoming.log.info('inside');
    response.statusCode = status;
    response.end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const call = request({ port, path, host: '127.0.0.1', headers: { authorization: 'Bearer sk-secret' } }).end();
  const [response] = (await once(call, 'response')) as [IncomingMessage];
  response.resume();
  await once(response, 'close');
  await new Promise(resolve => server.close(resolve));
  const text = String(sink.read() ?? '');
  expect(text).not.toContain('sk-secret');
  return text
    .split('\n')
    .filter(Boolean)
    .map(line => JSON.parse(line) as Record<string, unknown>);
}

describe('log lines', () => {
  it('carry the request id, also those written inside the request', async () => {
    const lines = await linesFor('/v1/models');
    expect(lines.map(({ msg, requestId, role }) => [msg, requestId, role])).toEqual([
      ['inside', 'req_1', 'test'],
      ['answered', 'req_1', 'test'],
    ]);
  });

  it('hold method, path and status, and neither headers nor query strings', async () => {
    const [, completed] = await linesFor('/v1/models?key=sk-secret');
    expect(completed).toMatchObject({ req: { method: 'GET', path: '/v1/models' }, res: { status: 200 } });
    expect(Object.keys(completed?.req as object)).toEqual(['method', 'path']);
  });

  it('leave probes and scrapes out', async () => {
    for (const path of ['/health', '/health/ready', '/metrics', '/metrics?x=1']) {
      expect((await linesFor(path)).map(({ msg }) => msg)).toEqual(['inside']);
    }
  });

  it('call only a failure of our own an error', async () => {
    const levels = await Promise.all(
      [400, 499, 503, 500].map(async status => (await linesFor('/v1/x', status))[1]?.level),
    );
    expect(levels).toEqual([30, 30, 30, 50]);
  });
});

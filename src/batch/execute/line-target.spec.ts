import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { LineTarget } from './line-target.js';

describe('LineTarget', () => {
  let server: Server;
  let target: LineTarget;
  let requests = 0;
  beforeEach(async () => {
    requests = 0;
    server = createServer(() => (requests += 1)).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const spec = {
      url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      requestTimeoutMs: 5000,
      retries: { attempts: 1, busyAttempts: 1, initialMs: 1, maxMs: 1 },
      tls: { insecureSkipVerify: false },
      takesFileUrl: true,
      authorization: () => undefined,
    };
    target = new LineTarget(spec, 1000);
  });
  afterEach(() => {
    target.close();
    server.closeAllConnections();
    server.close();
  });

  const send = (signal: AbortSignal) =>
    target.exchange({
      ...{ path: '/v1/chat/completions', contentType: 'application/json', bytes: 2, requestId: 'r', tenant: 't' },
      body: () => Buffer.from('{}'),
      signal,
    });

  // Its error had no listener yet, and ended the processor: a lease was lost while a line was being read.
  it('sends nothing for a line that was given up before', async () => {
    await expect(send(AbortSignal.abort(new Error('given up')))).rejects.toThrow('given up');
    await turn();
    expect(requests).toBe(0);
  });

  it('lets go of a line that is given up in flight', async () => {
    const controller = new AbortController();
    const sent = send(controller.signal);
    await once(server, 'request');
    controller.abort(new Error('given up'));
    await expect(sent).rejects.toThrow('given up');
  });
});

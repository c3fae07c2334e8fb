import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { expect, it } from '@jest/globals';
import { failureOfNetwork, UpstreamExchange } from './upstream-exchange.js';

const HEAD = 'HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nhalf';

/**
 * What a reader gets of an answer without a length. @param then what the upstream does
 * after half of it
 */
async function read(then: (socket: Socket) => void, signal = new AbortController().signal) {
  const server = createServer(socket => {
    socket.on('error', () => undefined).once('data', () => socket.write(HEAD, () => then(socket)));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  const options = {
    baseUrl: `http://127.0.0.1:${port}`,
    maxConcurrent: 1,
    timeoutMs: 10_000,
    insecureSkipVerify: false,
  };
  const exchange = new UpstreamExchange(options, undefined);
  try {
    const request = { path: '/', headers: {}, signal };
    let text = '';
    for await (const chunk of await exchange.send(request)) text += String(chunk);
    return text;
  } finally {
    exchange.close(new Error('closed'));
    server.close();
  }
}

it('an answer without a length is whole when its connection ends, and an error when that is reset', async () => {
  expect(await read(socket => socket.end())).toBe('half');
  await expect(read(socket => socket.resetAndDestroy())).rejects.toMatchObject({
    code: 'ECONNRESET',
  });
});

it('an answer without a length that is aborted is the error of the abort', async () => {
  const controller = new AbortController();
  const reason = new Error('cancelled by its caller');
  await expect(read(() => controller.abort(reason), controller.signal)).rejects.toBe(reason);
});

it.each([
  ['ECONNREFUSED', 'upstream_unavailable'],
  ['EMFILE', 'upstream_unavailable'],
  ['EADDRNOTAVAIL', 'upstream_unavailable'],
  ['ECONNRESET', 'worker_lost'],
  ['CERT_HAS_EXPIRED', 'engine_failed'],
])('a request that got no answer because of %s is %s', (code, wanted) => {
  const { error } = failureOfNetwork('m', Object.assign(new Error('no'), { code }));
  expect(error).toMatchObject({ code: wanted });
});

import { EventEmitter, once } from 'node:events';
import { type IncomingMessage } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import Fastify from 'fastify';
import { BodyWatch, tendConnections } from './reception.js';

const RATE = { windowMs: 30_000, mostMs: 600_000 };
const ENOUGH = 30 * 512;

class Body extends EventEmitter {
  readonly socket = { bytesRead: 0 };
  complete = false;
  readableLength = 0;
  readonly readableHighWaterMark = 65_536;
}

/** A body that is watched, and a clock. */
function watched(rate = RATE) {
  let nowMs = 0;
  const watch = new BodyWatch(rate, () => nowMs);
  const body = new Body();
  let slow = 0;
  watch.watch(body as unknown as IncomingMessage, () => slow++);
  const pass = (bytes: number, ms: number = rate.windowMs) => {
    nowMs += ms;
    body.socket.bytesRead += bytes;
    watch.sweep();
    return slow;
  };
  return { body, pass };
}

describe('BodyWatch', () => {
  it('ends a body that brings one byte less than the rate in a window, once', () => {
    const { pass } = watched();
    expect([pass(ENOUGH - 1), pass(0)]).toEqual([1, 1]);
  });

  it('lets a body that keeps the rate take 19 windows, and ends it after 10 minutes', () => {
    const { pass } = watched();
    expect(Array.from({ length: 19 }, () => pass(ENOUGH)).at(-1)).toBe(0);
    expect([pass(ENOUGH, 29_999), pass(1_000_000, 1), pass(0)]).toEqual([0, 1, 1]);
  });

  it('excuses a long body that we do not read until it is read again', () => {
    const { body, pass } = watched();
    body.readableLength = 65_536;
    expect(pass(ENOUGH, 700_000)).toBe(0);
    body.readableLength = 0;
    expect(pass(ENOUGH)).toBe(1);
  });

  it('measures each window by itself: a fast beginning excuses nothing', () => {
    const { pass } = watched();
    expect([pass(1_000_000_000), pass(100)]).toEqual([0, 1]);
  });

  it('judges nothing before a window is over', () => {
    const { pass } = watched();
    expect([pass(0, 29_999), pass(0, 1)]).toEqual([0, 1]);
  });

  it('excuses a body that we do not read, or that is here as a whole', () => {
    const full = watched();
    full.body.readableLength = 65_536;
    const whole = watched();
    whole.body.complete = true;
    expect([full.pass(0), whole.pass(0)]).toEqual([0, 0]);
  });

  it.each(['end', 'close'])('forgets a body at its %s', event => {
    const { body, pass } = watched();
    body.emit(event);
    expect(pass(0)).toBe(0);
  });
});

describe('the end of the server', () => {
  it('cuts an upload that would never end, and keeps nobody waiting for it', async () => {
    const fastify = Fastify();
    const begun = Promise.withResolvers<void>();
    fastify.addHook('onRequest', (_request, _reply, done) => (begun.resolve(), done()));
    fastify.post('/', () => 'never');
    tendConnections(fastify);
    await fastify.listen({ host: '127.0.0.1', port: 0 });
    const { port } = fastify.server.address() as AddressInfo;
    const caller = connect(port, '127.0.0.1');
    const cut = once(caller, 'close');
    caller.on('error', () => undefined);
    caller.write(
      'POST / HTTP/1.1\r\nhost: a\r\ncontent-type: text/plain\r\ncontent-length: 9\r\n\r\n',
    );
    await begun.promise;
    // WebSockets are cut later, and everything with them.
    const sockets = new Promise(resolve => setTimeout(resolve, 2000, 'too late'));
    const closed = fastify.close();
    expect(await Promise.race([cut.then(() => 'cut'), sockets])).toBe('cut');
    await closed;
  });
});

import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type FastifyInstance, type FastifyReply, fastify } from 'fastify';
import { followCaller, watchDisconnect } from './disconnect-watch.js';

describe('watchDisconnect', () => {
  let server: FastifyInstance;
  let client: Socket;
  let reply: FastifyReply;
  const seen: string[] = [];
  const watch = () => watchDisconnect(reply, () => seen.push('gone'));

  beforeEach(async () => {
    seen.length = 0;
    server = fastify();
    const { promise, resolve } = Promise.withResolvers<void>();
    server.get('/', (_, given) => {
      reply = given;
      resolve();
      return new Promise(() => undefined);
    });
    const { port } = new URL(await server.listen({ port: 0, host: '127.0.0.1' }));
    client = connect(Number(port), '127.0.0.1').resume();
    client.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    await promise;
  });
  afterEach(async () => {
    client.destroy();
    await server.close();
  });

  const closed = async () => {
    const end = once(reply.raw, 'close');
    client.destroy();
    await end;
  };

  it('tells once of a caller who leaves, and nothing after it was stopped', async () => {
    const stop = watch();
    watch();
    stop();
    await closed();
    expect(seen).toEqual(['gone']);
  });

  it('tells nothing of a connection that ends when the answer is written', async () => {
    watch();
    const end = once(reply.raw, 'close');
    reply.raw.end('done');
    await end;
    expect(seen).toEqual([]);
  });

  it('tells at once of a caller who has left before', async () => {
    await closed();
    watch();
    expect(seen).toEqual(['gone']);
  });

  it('tells when the caller leaves that the request is run for, before and during it', () => {
    const caller = new AbortController();
    followCaller(reply.request, caller.signal);
    const stop = watch();
    watch();
    stop();
    expect(seen).toEqual([]);
    caller.abort();
    expect(seen).toEqual(['gone']);
    watch();
    expect(seen).toEqual(['gone', 'gone']);
  });
});

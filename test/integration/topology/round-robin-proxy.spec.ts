import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { WebSocket, WebSocketServer } from 'ws';
import { RoundRobinProxy } from '../../../scripts/topology/round-robin-proxy.mjs';
import { pause } from '../../support/waiting.js';

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

/** A gateway as the proxy sees it: readiness, requests, sockets. */
class FakeGateway {
  ready = true;
  handle: Handler = (_request, response) => response.end(this.name);
  readonly server: Server;
  readonly sockets: WebSocketServer;
  port = 0;

  constructor(readonly name: string) {
    this.server = createServer((request, response) => {
      if (request.url === '/health/ready') response.writeHead(this.ready ? 200 : 503).end();
      else this.handle(request, response);
    });
    this.sockets = new WebSocketServer({ server: this.server });
    this.sockets.on('connection', socket =>
      socket.on('message', text => socket.send(`${this.name} ${(text as Buffer).toString()}`)),
    );
  }

  async listen(port = 0): Promise<void> {
    this.server.listen(port, '127.0.0.1');
    await once(this.server, 'listening');
    this.port = (this.server.address() as AddressInfo).port;
  }

  async die(): Promise<void> {
    if (!this.server.listening) return;
    const closed = once(this.server, 'close');
    this.server.close();
    this.server.closeAllConnections();
    for (const socket of this.sockets.clients) socket.terminate();
    await closed;
  }
}

describe('the proxy before several gateways', () => {
  let gateways: FakeGateway[];
  let proxy: RoundRobinProxy;
  let base: string;

  beforeEach(async () => {
    gateways = [new FakeGateway('one'), new FakeGateway('two')];
    for (const gateway of gateways) await gateway.listen();
    proxy = new RoundRobinProxy(gateways.map(({ port }) => `http://127.0.0.1:${port}`));
    base = `http://127.0.0.1:${await proxy.listen(0, '127.0.0.1')}`;
  });
  afterEach(async () => {
    const closed = proxy.close();
    proxy.closeAll();
    await closed;
    for (const gateway of gateways) await gateway.die();
  });

  const ask = async (init?: RequestInit): Promise<string> => (await fetch(base, init)).text();
  const untilReady = async (count: number): Promise<void> => {
    while (proxy.readyTargets.length !== count) await pause(10);
  };

  it('gives every gateway its turn', async () => {
    const answers = [await ask(), await ask(), await ask(), await ask()];
    expect([...answers].sort()).toEqual(['one', 'one', 'two', 'two']);
    expect(answers[0]).not.toBe(answers[1]);
  });

  it('leaves out a gateway that is not ready, and takes it back when it is', async () => {
    gateways[0]!.ready = false;
    await untilReady(1);
    expect([await ask(), await ask(), await ask()]).toEqual(['two', 'two', 'two']);
    gateways[0]!.ready = true;
    await untilReady(2);
    expect([await ask(), await ask()].sort()).toEqual(['one', 'two']);
  });

  it('sends a request whose gateway is dead to the other one, with its body', async () => {
    for (const gateway of gateways)
      gateway.handle = (request, response) => {
        response.write(`${gateway.name}:`);
        request.pipe(response);
      };
    await gateways[0]!.die();
    const asked = Array.from({ length: 4 }, (_, index) =>
      ask({ method: 'POST', body: `body ${index}` }),
    );
    expect(await Promise.all(asked)).toEqual([
      'two:body 0',
      'two:body 1',
      'two:body 2',
      'two:body 3',
    ]);
  });

  it('answers 502 when a gateway dies with a request, which is not sent twice', async () => {
    let seen = 0;
    for (const gateway of gateways)
      gateway.handle = request => {
        seen += 1;
        request.resume().once('end', () => request.socket.destroy());
      };
    const answer = await fetch(base, { method: 'POST', body: 'work' });
    expect([answer.status, seen]).toEqual([502, 1]);
    expect(await answer.json()).toMatchObject({ error: { code: 'gateway_lost' } });
  });

  it('breaks an answer off when its gateway dies in the middle of it', async () => {
    for (const gateway of gateways)
      gateway.handle = (_request, response) => {
        response.writeHead(200, { 'content-length': '100' });
        response.write('half', () => response.destroy());
      };
    await expect(ask()).rejects.toThrow();
  });

  it('answers 503 with Retry-After when there is no gateway', async () => {
    for (const gateway of gateways) await gateway.die();
    const answer = await fetch(base);
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '1']);
  });

  it('tells the gateway when the caller leaves', async () => {
    let left: Promise<unknown> | undefined;
    let arrived: () => void = () => undefined;
    const here = new Promise<void>(resolve => (arrived = resolve));
    for (const gateway of gateways)
      gateway.handle = (_request, response) => {
        left = once(response, 'close');
        arrived();
      };
    const caller = connect(Number(new URL(base).port), '127.0.0.1');
    caller.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
    await here;
    caller.destroy();
    await left;
    // Leaving says nothing about the gateway.
    expect(proxy.readyTargets).toHaveLength(2);
  });

  it('keeps a WebSocket on the gateway it was opened on, both ways', async () => {
    const socket = new WebSocket(base.replace('http', 'ws'));
    await once(socket, 'open');
    const heard: string[] = [];
    for (const text of ['a', 'b', 'c']) {
      socket.send(text);
      const [message] = (await once(socket, 'message')) as [Buffer];
      heard.push(message.toString());
    }
    const name = heard[0]!.split(' ')[0]!;
    expect(heard).toEqual([`${name} a`, `${name} b`, `${name} c`]);
    const closed = once(socket, 'close');
    await gateways.find(gateway => gateway.name === name)!.die();
    await closed;
  });

  it('opens a WebSocket on the other gateway when one is dead', async () => {
    await gateways[1]!.die();
    for (let attempt = 0; attempt < 2; attempt += 1) {
      const socket = new WebSocket(base.replace('http', 'ws'));
      await once(socket, 'open');
      socket.terminate();
    }
  });
});

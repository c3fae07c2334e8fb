import { readFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { createServer, type Server } from 'node:tls';
import { temporaryFolder } from './temporary-folder.js';
import { TestCertificates } from './test-certificates.js';

/**
 * TLS in front of a port of this machine, as a load balancer terminates it: OpenAI's
 * realtime client speaks wss only.
 */
export class TlsFront implements AsyncDisposable {
  readonly #sockets = new Set<Socket>();

  private constructor(
    private readonly server: Server,
    readonly port: number,
  ) {
    server.on('connection', (socket: Socket) => this.#sockets.add(socket));
  }

  static async start(target: number): Promise<TlsFront> {
    const server = createServer(await pair(), client => {
      const inner = connect(target, '127.0.0.1');
      client.pipe(inner).pipe(client);
      for (const end of [client, inner])
        end.on('error', () => [client, inner].forEach(each => each.destroy()));
    });
    await new Promise<void>(listening => server.listen(0, '127.0.0.1', listening));
    return new TlsFront(server, (server.address() as { port: number }).port);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise(closed => this.server.close(closed));
  }
}

async function pair(): Promise<{ key: Buffer; cert: Buffer }> {
  const certificates = await TestCertificates.make(temporaryFolder());
  const { certFile, keyFile } = await certificates.sign('front', 'IP:127.0.0.1');
  return { key: await readFile(keyFile), cert: await readFile(certFile) };
}

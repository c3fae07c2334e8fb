import { createServer, type Server } from 'node:http';
import { type AddressInfo } from 'node:net';
import { allMetricsText } from './metrics-text.js';

/** `GET /metrics`, for processes without an HTTP server of their own. */
export class MetricsServer {
  readonly #server: Server = createServer((request, response) => {
    if (request.method !== 'GET' || request.url !== '/metrics') return void response.writeHead(404).end();
    allMetricsText().then(
      text => response.writeHead(200, { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' }).end(text),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  });

  /** @returns the port really taken. @throws when it is taken by another */
  listen(port: number, host = '127.0.0.1'): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(port, host, () => resolve((this.#server.address() as AddressInfo).port));
    });
  }

  async close(): Promise<void> {
    if (!this.#server.listening) return;
    this.#server.closeAllConnections();
    await new Promise(closed => this.#server.close(closed));
  }
}

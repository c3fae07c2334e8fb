import { resolve } from 'node:path';
import { freePort } from '../../support/free-port.js';
import { Topology } from './topology.js';

/**
 * One gateway with its own workers and its own batch processor, the
 * embedded queue, SQLite.
 */
export class SingleTopology extends Topology {
  readonly name = 'single';
  #port = 0;

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  async start(): Promise<void> {
    this.#port = await freePort();
    await this.addNeighbours();
    this.writeModels(this.models);
    this.add({
      ...{
        name: 'gateway',
        kind: 'gateway',
        file: process.execPath,
        args: [resolve('dist/main.gateway.js')],
      },
      ...{
        port: this.#port,
        tied: true,
        env: { ...this.environment(), SWITCHYARD_SERVER_PORT: String(this.#port) },
      },
    });
    for (const process of this.processes) process.start();
    if (!(await this.untilReady()))
      throw new Error(`The gateway did not become ready; logs: ${this.logs}`);
  }
}

import { NodeProcess } from '../../support/node-process.js';
import { siblingModule } from './sibling-module.js';

/** The bare peer (passthrough-server) in front of the given worker. */
export class PassthroughProcess implements AsyncDisposable {
  private constructor(
    readonly process: NodeProcess,
    readonly port: number,
  ) {}

  static async start(workerAddress: string, folder: string): Promise<PassthroughProcess> {
    const peer = new NodeProcess({
      name: 'passthrough',
      script: siblingModule(import.meta.url, './passthrough-server'),
      env: { BENCH_WORKER_ADDRESS: workerAddress },
      folder,
    });
    const port = await peer.port();
    return new PassthroughProcess(peer, port);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.process[Symbol.asyncDispose]();
  }
}

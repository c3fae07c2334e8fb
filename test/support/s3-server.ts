import { rm } from 'node:fs/promises';
import S3rver from 's3rver';
import { type S3BlobStore } from '../../src/platform/storage/s3-blob-store.js';
import { temporaryFolder } from './temporary-folder.js';

export const BUCKET = 'switchyard-test';
/** As key and as secret. */
export const S3_CREDENTIAL = 'S3RVER';

/**
 * A server that speaks S3, with one bucket, in this process; objects lie in
 * a temporary folder.
 */
export class S3Server implements AsyncDisposable {
  private constructor(
    private server: S3rver,
    private readonly folder: string,
    readonly options: ConstructorParameters<typeof S3BlobStore>[0],
  ) {}

  /** @param place port 0: any */
  static async start(place = { port: 0, folder: temporaryFolder() }): Promise<S3Server> {
    const { folder } = place;
    const server = serverOn(folder, place.port);
    const { port } = await server.run();
    return new S3Server(server, folder, {
      bucket: BUCKET,
      prefix: 'switchyard/',
      region: 'us-east-1',
      endpoint: `http://127.0.0.1:${port}`,
      pathStyle: true,
      credentials: { accessKeyId: S3_CREDENTIAL, secretAccessKey: S3_CREDENTIAL },
    });
  }

  /** Gone as after a power cut: connections break, objects stay. */
  async kill(): Promise<void> {
    const closed = this.server.close();
    this.server.httpServer.closeAllConnections();
    await closed;
  }

  /** Takes requests, and never answers again. */
  hang(): void {
    this.server.httpServer.removeAllListeners('request');
  }

  /** Back at the same address, with what it had. */
  async launch(): Promise<void> {
    this.server = serverOn(this.folder, Number(new URL(this.options.endpoint!).port));
    await this.server.run();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.server.close();
  }
}

function serverOn(folder: string, port: number): S3rver {
  const server = new S3rver({
    ...{ address: '127.0.0.1', port, silent: true, directory: folder },
    configureBuckets: [{ name: BUCKET, configs: [] }],
  });
  const { store } = server;
  // Its own removes the empty folder, too: an object that is being made there ends the process.
  store.deleteObject = async (bucket, key) => {
    for (const resource of ['object', 'object.md5', 'metadata.json'])
      await rm(store.getResourcePath(bucket, key, resource), { force: true });
  };
  return server;
}

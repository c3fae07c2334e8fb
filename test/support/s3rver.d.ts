/** What the tests use of s3rver, which ships no types. */
declare module 's3rver' {
  import { type Server } from 'node:http';
  import { type AddressInfo } from 'node:net';

  export default class S3rver {
    constructor(options: {
      readonly address: string;
      readonly port: number;
      readonly silent: boolean;
      readonly directory: string;
      readonly configureBuckets: readonly {
        readonly name: string;
        readonly configs: readonly string[];
      }[];
    });
    /** While it runs. */
    readonly httpServer: Server;
    readonly store: {
      getResourcePath(bucket: string, key: string, resource: string): string;
      deleteObject: (bucket: string, key: string) => Promise<void>;
    };
    run(): Promise<AddressInfo>;
    close(): Promise<void>;
  }
}

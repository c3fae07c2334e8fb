import { Readable } from 'node:stream';
import {
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  S3Client,
} from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';
import { BlobAdapter, type ByteRange } from './blob-adapter.js';
import { BlobMissing } from './storage-problems.js';

/**
 * S3 accepts at most 10,000 parts of at least 5 MiB: up to 80 GB. Buffers of one upload:
 * about 36 MiB (measured).
 */
const PART_BYTES = 8 * 1_048_576;

/**
 * Blobs as objects of one bucket. Uploads are multipart above 8 MiB; an object appears
 * when it is complete.
 */
export class S3BlobStore extends BlobAdapter {
  readonly #client: S3Client;

  constructor(
    private readonly options: {
      readonly bucket: string;
      /** Before every key, such as "switchyard/"; may be empty. */
      readonly prefix: string;
      readonly region: string;
      /** For servers other than Amazon's; absent: theirs. */
      readonly endpoint?: string | undefined;
      /**
       * `host/bucket/key` instead of `bucket.host/key`: what most self-hosted servers speak.
       */
      readonly pathStyle: boolean;
      /** Absent: the usual chain of environment, files and roles. */
      readonly credentials?: {
        readonly accessKeyId: string;
        readonly secretAccessKey: string;
      };
    },
  ) {
    super();
    this.#client = new S3Client({
      region: options.region,
      forcePathStyle: options.pathStyle,
      maxAttempts: 4,
      // Newer checksums are what servers other than Amazon's trip over.
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
      endpoint: options.endpoint,
      credentials: options.credentials,
    });
  }

  protected async put(
    key: string,
    bytes: AsyncIterable<Uint8Array>,
    signal?: AbortSignal,
  ): Promise<number> {
    signal?.throwIfAborted();
    let length = 0;
    const counted = async function* (): AsyncGenerator<Uint8Array> {
      for await (const chunk of bytes) {
        length += chunk.byteLength;
        yield chunk;
      }
    };
    const params = { ...this.#at(key), Body: Readable.from(counted()) };
    // Parts of an upload that fails or is aborted are removed: they cost money for ever.
    const upload = new Upload({
      client: this.#client,
      params,
      partSize: PART_BYTES,
      queueSize: 1,
    });
    const abort = (): void => void upload.abort();
    signal?.addEventListener('abort', abort, { once: true });
    try {
      await upload.done();
      return length;
    } finally {
      signal?.removeEventListener('abort', abort);
    }
  }

  protected async *get(key: string, range?: ByteRange): AsyncIterable<Uint8Array> {
    const Range = range && `bytes=${range.from}-${range.to}`;
    const answer = await this.#client
      .send(new GetObjectCommand({ ...this.#at(key), Range }))
      .catch((error: unknown) =>
        Promise.reject(isAbsent(error) ? new BlobMissing(key) : (error as Error)),
      );
    yield* answer.Body as unknown as AsyncIterable<Uint8Array>;
  }

  protected async measure(key: string): Promise<number | undefined> {
    try {
      return (await this.#client.send(new HeadObjectCommand(this.#at(key)))).ContentLength;
    } catch (error) {
      if (isAbsent(error)) return undefined;
      throw error;
    }
  }

  protected async erase(key: string): Promise<void> {
    await this.#client.send(new DeleteObjectCommand(this.#at(key)));
  }

  protected async *list(prefix: string): AsyncIterable<{ key: string; writtenAtMs: number }> {
    const { bucket: Bucket, prefix: base } = this.options;
    let ContinuationToken: string | undefined;
    do {
      const page = await this.#client.send(
        new ListObjectsV2Command({ Bucket, Prefix: base + prefix, ContinuationToken }),
      );
      for (const { Key = '', LastModified } of page.Contents ?? [])
        yield { key: Key.slice(base.length), writtenAtMs: LastModified?.getTime() ?? 0 };
      ContinuationToken = page.NextContinuationToken;
    } while (ContinuationToken !== undefined);
  }

  /**
   * Parts of uploads that never ended are the bucket's own: a lifecycle rule
   * (AbortIncompleteMultipartUpload) removes them.
   */
  removeDrafts(): Promise<number> {
    return Promise.resolve(0);
  }

  close(): void {
    this.#client.destroy();
  }

  #at(key: string) {
    return { Bucket: this.options.bucket, Key: this.options.prefix + key };
  }
}

function isAbsent(error: unknown): boolean {
  const { name, $metadata } = error as {
    name?: string;
    $metadata?: { httpStatusCode?: number };
  };
  return name === 'NoSuchKey' || name === 'NotFound' || $metadata?.httpStatusCode === 404;
}

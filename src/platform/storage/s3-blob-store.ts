import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { type BlobStore } from '../../core/jobs/job.ports.js';
import { BlobMissing, checkKey } from './storage-problems.js';

/** S3 takes parts of 5 MiB and more, 10,000 at most: this allows 80 GB in two buffers of memory. */
const PART_BYTES = 8 * 1_048_576;

export interface S3Options {
  readonly bucket: string;
  /** Before every key, such as "switchyard/"; may be empty. */
  readonly prefix: string;
  readonly region: string;
  /** For servers other than Amazon's; absent: theirs. */
  readonly endpoint?: string;
  /** `host/bucket/key` instead of `bucket.host/key`: what most self-hosted servers speak. */
  readonly pathStyle: boolean;
  /** Absent: the usual chain of environment, files and roles. */
  readonly credentials?: { readonly accessKeyId: string; readonly secretAccessKey: string };
}

/** Blobs as objects of one bucket. Uploads are multipart from 8 MiB on; an object appears when it is whole. */
export class S3BlobStore implements BlobStore {
  readonly #client: S3Client;
  readonly #options: S3Options;

  constructor(options: S3Options) {
    this.#options = options;
    this.#client = new S3Client({
      region: options.region,
      forcePathStyle: options.pathStyle,
      maxAttempts: 4,
      // Newer checksums are what servers other than Amazon's trip over.
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
      ...(options.endpoint === undefined ? {} : { endpoint: options.endpoint }),
      ...(options.credentials ? { credentials: options.credentials } : {}),
    });
  }

  async write(key: string, bytes: AsyncIterable<Uint8Array>, signal?: AbortSignal): Promise<number> {
    const parts = partsOf(bytes, PART_BYTES);
    const first = await parts.next();
    const second = first.done ? first : await parts.next();
    if (second.done) return this.#put(key, first.done ? new Uint8Array() : first.value, signal);
    return this.#multipart(key, prepended([first.value as Uint8Array, second.value], parts), signal);
  }

  async *read(key: string, range?: { readonly from: number; readonly to: number }): AsyncIterable<Uint8Array> {
    const Range = range && `bytes=${range.from}-${range.to}`;
    const answer = await this.#client
      .send(new GetObjectCommand({ ...this.#at(key), Range }))
      .catch((error: unknown) => Promise.reject(isAbsent(error) ? new BlobMissing(key) : (error as Error)));
    yield* answer.Body as unknown as AsyncIterable<Uint8Array>;
  }

  async size(key: string): Promise<number | undefined> {
    try {
      return (await this.#client.send(new HeadObjectCommand(this.#at(key)))).ContentLength;
    } catch (error) {
      if (isAbsent(error)) return undefined;
      throw error;
    }
  }

  async remove(key: string): Promise<void> {
    await this.#client.send(new DeleteObjectCommand(this.#at(key)));
  }

  async *keys(prefix: string): AsyncIterable<{ key: string; writtenAtMs: number }> {
    const { bucket: Bucket, prefix: base } = this.#options;
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

  /** Parts of uploads that never ended are the bucket's own: a lifecycle rule (AbortIncompleteMultipartUpload) removes them. */
  removeDrafts(): Promise<number> {
    return Promise.resolve(0);
  }

  /** Through here: S3 copies parts only where all but the last have 5 MiB, and users' parts may be smaller. */
  join(key: string, parts: readonly string[]): Promise<number> {
    return this.write(key, this.#all(parts));
  }

  close(): void {
    this.#client.destroy();
  }

  async *#all(keys: readonly string[]): AsyncIterable<Uint8Array> {
    for (const key of keys) yield* this.read(key);
  }

  async #put(key: string, body: Uint8Array, signal?: AbortSignal): Promise<number> {
    signal?.throwIfAborted();
    await this.#client.send(new PutObjectCommand({ ...this.#at(key), Body: body }), { abortSignal: signal });
    return body.byteLength;
  }

  async #multipart(key: string, parts: AsyncIterable<Uint8Array>, signal?: AbortSignal): Promise<number> {
    const { UploadId } = await this.#client.send(new CreateMultipartUploadCommand(this.#at(key)));
    try {
      const sent = await this.#sendParts({ ...this.#at(key), UploadId }, parts, signal);
      const Parts = sent.map(({ ETag }, index) => ({ ETag, PartNumber: index + 1 }));
      await this.#client.send(
        new CompleteMultipartUploadCommand({ ...this.#at(key), UploadId, MultipartUpload: { Parts } }),
      );
      return sent.reduce((sum, { bytes }) => sum + bytes, 0);
    } catch (error) {
      // Parts of an upload that never ends cost money for ever.
      await this.#client.send(new AbortMultipartUploadCommand({ ...this.#at(key), UploadId })).catch(() => undefined);
      throw error;
    }
  }

  async #sendParts(upload: object, parts: AsyncIterable<Uint8Array>, signal?: AbortSignal) {
    const sent: { ETag: string | undefined; bytes: number }[] = [];
    for await (const Body of parts) {
      signal?.throwIfAborted();
      const part = {
        ...(upload as { Bucket: string; Key: string; UploadId: string }),
        Body,
        PartNumber: sent.length + 1,
      };
      const { ETag } = await this.#client.send(new UploadPartCommand(part), { abortSignal: signal });
      sent.push({ ETag, bytes: Body.byteLength });
    }
    return sent;
  }

  #at(key: string): { Bucket: string; Key: string } {
    return { Bucket: this.#options.bucket, Key: this.#options.prefix + checkKey(key) };
  }
}

/** Chunks of any size → parts of one size, the last of which may be smaller. */
async function* partsOf(bytes: AsyncIterable<Uint8Array>, size: number): AsyncGenerator<Uint8Array, void> {
  let chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of bytes) {
    chunks.push(chunk);
    length += chunk.byteLength;
    if (length < size) continue;
    yield Buffer.concat(chunks);
    [chunks, length] = [[], 0];
  }
  if (length > 0) yield Buffer.concat(chunks);
}

async function* prepended(first: readonly Uint8Array[], rest: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield* first;
  yield* rest;
}

function isAbsent(error: unknown): boolean {
  const { name, $metadata } = error as { name?: string; $metadata?: { httpStatusCode?: number } };
  return name === 'NoSuchKey' || name === 'NotFound' || $metadata?.httpStatusCode === 404;
}

import { join, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { type INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { trace } from '@opentelemetry/api';
import { BatchModule } from '../../src/batch/batch.module.js';
import { BatchProcessor } from '../../src/batch/runner/batch-processor.js';
import { type BatchJob } from '../../src/core/jobs/batch-job.js';
import { isTerminal } from '../../src/core/jobs/batch-status.js';
import { type BlobStore } from '../../src/core/jobs/job.ports.js';
import { timeOrderedId } from '../../src/platform/clock/time-ordered-id.js';
import { loadConfig } from '../../src/platform/config/load-config.js';
import { PROCESSOR_NODE_FLAGS } from '../../src/platform/config/processor-link.js';
import { environmentName, type SettingPath } from '../../src/platform/config/settings.js';
import { FileStore } from '../../src/platform/database/file-store.js';
import { JobClaims } from '../../src/platform/database/job-claims.js';
import { JobStore } from '../../src/platform/database/job-store.js';
import { OpenDatabase } from '../../src/platform/database/open-database.js';
import { fileBlobKey } from '../../src/platform/storage/blob-keys.js';
import { FsBlobStore } from '../../src/platform/storage/fs-blob-store.js';
import { S3BlobStore } from '../../src/platform/storage/s3-blob-store.js';
import { type SettingOverrides } from './gateway-process.js';
import { NodeProcess } from './node-process.js';
import { type S3Server } from './s3-server.js';
import { temporaryFolder } from './temporary-folder.js';
import { pause, until, WAIT_LIMIT_MS } from './waiting.js';

export const TENANT = 'default';

/** A chat line. */
export const chatLine = (customId: string, model = 'm', content: unknown = customId): string =>
  JSON.stringify({
    custom_id: customId,
    method: 'POST',
    url: '/v1/chat/completions',
    body: { model, messages: [{ role: 'user', content }] },
  });

export interface HarnessOptions {
  readonly settings?: SettingOverrides;
  readonly environment?: Readonly<Record<string, string | undefined>>;
  readonly blobs?: BlobStore;
  /** `postgres://…`; default: a SQLite file in the data folder. */
  readonly databaseUrl?: string;
  /** The data folder is put here, and left here in the end; default: a temporary one. */
  readonly dataDir?: string;
}

/** Who works on a batch, as its row says. */
export interface RowLease {
  /** Undefined: no processor. */
  readonly pid: number | undefined;
  /** Times it was claimed. */
  readonly epoch: number;
  readonly untilMs: number;
}

/**
 * A lease that ends soon, and far above what a busy machine keeps a process from its
 * heartbeat: that comes after a third of it.
 */
export const SHORT_LEASE_MS = 3000;

/**
 * A data folder with a real SQLite file and real blobs, and processors
 * (`dist/main.batch.js`) that work on it.
 */
export class BatchHarness implements AsyncDisposable {
  readonly processors: NodeProcess[] = [];
  readonly #hosted: INestApplicationContext[] = [];

  readonly jobs: JobStore;
  readonly claims: JobClaims;
  readonly files: FileStore;

  private constructor(
    readonly folder: string,
    private readonly database: OpenDatabase,
    readonly blobs: BlobStore,
    private readonly options: HarnessOptions,
  ) {
    this.jobs = new JobStore(database);
    this.claims = new JobClaims(database);
    this.files = new FileStore(database);
  }

  static async open(options: HarnessOptions = {}): Promise<BatchHarness> {
    const folder = temporaryFolder();
    const data = options.dataDir ?? join(folder, 'data');
    const database = new OpenDatabase(options.databaseUrl ?? join(data, 'switchyard.db'));
    await database.migrate();
    const blobs = options.blobs ?? new FsBlobStore(join(data, 'blobs'));
    return new BatchHarness(folder, database, blobs, options);
  }

  /** Lines go to that server. */
  static towards(
    target: { readonly url: string },
    settings: SettingOverrides = {},
  ): Promise<BatchHarness> {
    return BatchHarness.open({ settings: { 'batch.gateway_url': target.url, ...settings } });
  }

  /** The database in the data folder, blobs in a bucket. */
  static async openS3(server: S3Server, settings: SettingOverrides): Promise<BatchHarness> {
    const { bucket, prefix, endpoint = '', credentials } = server.options;
    const s3: SettingOverrides = {
      'blobs.driver': 's3',
      'blobs.s3_bucket': bucket,
      'blobs.s3_prefix': prefix,
      'blobs.s3_endpoint': endpoint,
      'blobs.s3_path_style': 'true',
    };
    const environment = {
      AWS_ACCESS_KEY_ID: credentials?.accessKeyId,
      AWS_SECRET_ACCESS_KEY: credentials?.secretAccessKey,
    };
    return BatchHarness.open({
      settings: { ...settings, ...s3 },
      environment,
      blobs: new S3BlobStore(server.options),
    });
  }

  get dataDir(): string {
    return this.options.dataDir ?? join(this.folder, 'data');
  }

  /** A processor that is a process; it stops with the harness. */
  start(settings: SettingOverrides = {}, flags: readonly string[] = []): NodeProcess {
    const processor = new NodeProcess({
      name: `processor-${this.processors.length}`,
      script: resolve('dist/main.batch.js'),
      flags: [...PROCESSOR_NODE_FLAGS, ...flags],
      env: { ...this.options.environment, ...this.#variables(settings) },
      folder: this.folder,
    });
    this.processors.push(processor);
    return processor;
  }

  /** A processor in this process, for what does not end it; it stops with the harness. */
  async host(settings: SettingOverrides = {}): Promise<void> {
    const own = this.#variables({ 'logging.level': 'silent', ...settings });
    const config = loadConfig({ environment: { ...process.env, ...own } });
    const app = await NestFactory.createApplicationContext(
      BatchModule.forProcessor(config.settings, config.models, undefined, trace.getTracer('none')),
      { logger: false, abortOnError: false },
    );
    this.#hosted.push(app);
    await app.get(BatchProcessor).start();
  }

  #variables(settings: SettingOverrides): Record<string, string> {
    const overrides: SettingOverrides = {
      'data.dir': this.dataDir,
      'database.url': this.options.databaseUrl ?? '',
      'logging.pretty': 'false',
      'batch.poll_ms': 50,
      'batch.backoff_min_ms': 20,
      ...this.options.settings,
      ...settings,
    };
    const named = Object.entries(overrides).map(([path, value]) => [
      environmentName(path as SettingPath),
      String(value),
    ]);
    return Object.fromEntries(named) as Record<string, string>;
  }

  /** Stores the file and makes the job. */
  async submit(
    input: readonly string[] | Buffer,
    job: Partial<BatchJob> & { windowMs?: number } = {},
  ): Promise<BatchJob> {
    const bytes = Buffer.isBuffer(input)
      ? input
      : Buffer.from(input.map(line => `${line}\n`).join(''));
    const nowMs = Date.now();
    const id = timeOrderedId('file-', nowMs);
    const { tenant = TENANT } = job;
    const blobKey = fileBlobKey(tenant, id);
    await this.blobs.write(blobKey, Readable.from([bytes]));
    const file = {
      id,
      tenant,
      purpose: 'batch' as const,
      filename: 'in.jsonl',
      bytes: bytes.length,
      createdAtMs: nowMs,
    };
    await this.files.create({ ...file, blobKey, sha256: '' });
    const { windowMs = 3_600_000, ...fields } = job;
    const made = await this.jobs.create({
      id: timeOrderedId('batch_', nowMs),
      tenant: TENANT,
      endpoint: '/v1/chat/completions',
      inputFileId: id,
      completionWindow: '1h',
      status: 'validating',
      createdAtMs: nowMs,
      expiresAtMs: nowMs + windowMs,
      reachedAtMs: {},
      counts: { total: 0, completed: 0, failed: 0 },
      problems: [],
      metadata: {},
      ...fields,
    });
    return made.job;
  }

  async job(id: string, tenant = TENANT): Promise<BatchJob> {
    const job = await this.jobs.find(tenant, id);
    if (!job) throw new Error(`no job ${id}`);
    return job;
  }

  async until(
    id: string,
    what: string,
    holds: (job: BatchJob) => boolean,
    limitMs = WAIT_LIMIT_MS,
  ): Promise<BatchJob> {
    let job = await this.job(id);
    const told = async () => [
      JSON.stringify(job),
      ...(await Promise.all(this.processors.map(processor => processor.logTail()))),
    ];
    await until(async () => holds((job = await this.job(id))), { what, limitMs, told });
    return job;
  }

  untilEnd(id: string, limitMs?: number): Promise<BatchJob> {
    return this.until(id, 'the end of the batch', ({ status }) => isTerminal(status), limitMs);
  }

  async lease(id: string): Promise<RowLease> {
    const { leaseOwner, leaseUntilMs, epoch } = await this.database.db
      .selectFrom('batches')
      .select(['leaseOwner', 'leaseUntilMs', 'epoch'])
      .where('id', '=', id)
      .executeTakeFirstOrThrow();
    const isHeld = leaseOwner !== undefined && leaseUntilMs > Date.now();
    const pid = isHeld ? Number(leaseOwner.split('-').at(-2)) : undefined;
    return { pid, epoch, untilMs: leaseUntilMs };
  }

  /** Resolves at the end of the batch, too: no processor claims it then. */
  async untilLease(id: string, holds: (lease: RowLease) => boolean): Promise<void> {
    while (!holds(await this.lease(id)) && !isTerminal((await this.job(id)).status)) await pause(5);
  }

  /** Lines of a result file; none for a file that was not made. */
  async lines(fileId: string | undefined): Promise<string[]> {
    if (fileId === undefined) return [];
    const file = await this.files.find(TENANT, fileId);
    const chunks: Uint8Array[] = [];
    for await (const chunk of this.blobs.read(file!.blobKey)) chunks.push(chunk);
    return Buffer.concat(chunks).toString().split('\n').slice(0, -1);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const processor of this.processors) await processor[Symbol.asyncDispose]();
    for (const app of this.#hosted) {
      await app.get(BatchProcessor).stop(true);
      await app.close();
    }
    await this.database.db.destroy();
  }
}

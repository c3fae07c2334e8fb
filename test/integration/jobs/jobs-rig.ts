import { BlobStore } from '../../../src/core/jobs/job.ports.js';
import { type SettingValue } from '../../../src/platform/config/setting-definition.js';
import { type SettingPath } from '../../../src/platform/config/settings.js';
import { JobClaims } from '../../../src/platform/database/job-claims.js';
import { JobStore } from '../../../src/platform/database/job-store.js';
import { GatewayRig } from '../api/gateway-rig.js';

type Settings = Partial<Record<SettingPath, SettingValue>>;

export interface FileAnswer {
  readonly id: string;
  readonly bytes: number;
  readonly filename: string;
  readonly purpose: string;
  readonly created_at: number;
  readonly expires_at?: number;
}

export interface BatchAnswer extends Record<string, unknown> {
  readonly id: string;
  readonly status: string;
  readonly error_file_id: string | null;
  readonly input_file_id: string;
}

/**
 * The API of files and batches without a processor: what it promises
 * before anything runs.
 */
export class JobsRig {
  private constructor(readonly gateway: GatewayRig) {}

  static async start(settings: Settings = {}): Promise<JobsRig> {
    return new JobsRig(await GatewayRig.start({ models: [], settings }));
  }

  get url(): string {
    return this.gateway.url;
  }

  get blobs(): BlobStore {
    return this.gateway.app.get<BlobStore>(BlobStore, { strict: false });
  }

  get claims(): JobClaims {
    return this.gateway.app.get(JobClaims, { strict: false });
  }

  get jobs(): JobStore {
    return this.gateway.app.get(JobStore, { strict: false });
  }

  /** @param fields before the file, unless `last` */
  upload(
    content: string | Buffer,
    fields: Record<string, string> = { purpose: 'batch' },
    { last = false, headers = {} }: { last?: boolean; headers?: Record<string, string> } = {},
  ): Promise<Response> {
    const form = new FormData();
    const file = new Blob([content]);
    if (last) form.set('file', file, 'lines.jsonl');
    for (const [name, value] of Object.entries(fields)) form.append(name, value);
    if (!last) form.set('file', file, 'lines.jsonl');
    return this.gateway.post('/v1/files', form, { headers });
  }

  async file(content: string | Buffer, fields?: Record<string, string>): Promise<FileAnswer> {
    return answerOf<FileAnswer>(await this.upload(content, fields));
  }

  content(id: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Response> {
    return fetch(`${this.url}/v1/files/${id}/content`, { headers, method });
  }

  create(fields: Record<string, unknown>, headers: Record<string, string> = {}): Promise<Response> {
    const body = { endpoint: '/v1/embeddings', completion_window: '24h', ...fields };
    return this.gateway.post('/v1/batches', body, { headers });
  }

  async batch(fields: Record<string, unknown> = {}): Promise<BatchAnswer> {
    const input = fields.input_file_id ?? (await this.file('{}\n')).id;
    return answerOf<BatchAnswer>(await this.create({ ...fields, input_file_id: input }));
  }

  /** Moves a batch on as a processor would. */
  async finish(id: string, errorFileId?: string): Promise<void> {
    const epoch = await this.claim(id);
    await this.claims.update(id, epoch, { status: 'in_progress' }, Date.now());
    await this.claims.update(id, epoch, { status: 'finalizing' }, Date.now());
    const files = errorFileId === undefined ? {} : { errorFileId };
    await this.claims.update(id, epoch, { status: 'completed', ...files }, Date.now());
  }

  /** The epoch of its lease; batches before it are claimed on the way. */
  async claim(id: string): Promise<number> {
    for (;;) {
      const leased = await this.claims.claim('spec', 60_000);
      if (!leased) throw new Error(`nobody can claim ${id}`);
      if (leased.job.id === id) return leased.epoch;
    }
  }

  async blobKeys(): Promise<string[]> {
    const keys: string[] = [];
    for await (const { key } of this.blobs.keys('files/')) keys.push(key);
    return keys;
  }

  close(): Promise<void> {
    return this.gateway.close();
  }
}

/** @throws Error with the body for anything but 200 */
export async function answerOf<T>(response: Response | Promise<Response>): Promise<T> {
  const answer = await response;
  const body = await answer.text();
  if (answer.status !== 200) throw new Error(`${answer.status}: ${body}`);
  return JSON.parse(body) as T;
}

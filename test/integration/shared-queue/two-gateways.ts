import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type Redis } from 'ioredis';
import { type ModelSpec } from '../../../src/platform/config/model-spec.js';
import { formOf } from '../../support/form-of.js';
import { GatewayProcess, logTails, type SettingOverrides } from '../../support/gateway-process.js';
import { silentWav } from '../../support/http-request.js';
import { redisClient } from '../../support/redis-client.js';
import { RedisServer } from '../../support/redis-server.js';
import { stt } from '../../support/scheduler-harness.js';
import { ScriptedPuller } from '../../support/scripted-puller.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { until } from '../../support/waiting.js';

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Record<string, unknown>;
}

/**
 * Two gateway processes with one Redis and one folder of blobs; the test plays the one
 * worker that pulls.
 */
export class TwoGateways implements AsyncDisposable {
  private constructor(
    readonly redis: RedisServer,
    readonly client: Redis,
    readonly puller: ScriptedPuller,
    readonly a: GatewayProcess,
    readonly b: GatewayProcess,
    private readonly folder: string,
  ) {}

  /** @param env of the first gateway. @param fields of the model */
  static async start(
    settings: SettingOverrides = {},
    env: NodeJS.ProcessEnv = {},
    fields: Partial<ModelSpec> = {},
  ): Promise<TwoGateways> {
    const folder = temporaryFolder();
    const redis = await RedisServer.start();
    const puller = await ScriptedPuller.start({ url: redis.url, model: 'alpha' });
    const client = redisClient(redis.url);
    const shared: SettingOverrides = {
      ...{
        'queue.driver': 'redis',
        'redis.url': redis.url,
        'data.dir': join(folder, 'data'),
      },
      ...{ 'requests.idempotency': 'off', ...settings },
    };
    const models = [{ ...stt('alpha'), addresses: [], ...fields }];
    const a = await GatewayProcess.start(models, shared, { folder, env });
    const b = await GatewayProcess.start(models, shared, { folder });
    return new TwoGateways(redis, client, puller, a, b, folder);
  }

  /** One transcription, as any client sends it. Rejects when the connection breaks. */
  async transcribe(
    gateway: GatewayProcess,
    id: string,
    sent: Record<string, string> = {},
    signal?: AbortSignal,
  ): Promise<Answer> {
    const form = formOf({ model: 'alpha' }, silentWav());
    const headers = { 'x-request-id': id, 'x-priority': 'batch', ...sent };
    return this.#answer(`http://127.0.0.1:${gateway.port}/v1/audio/transcriptions`, {
      method: 'POST',
      body: form,
      headers,
      ...(signal && { signal }),
    });
  }

  get(gateway: GatewayProcess, path: string): Promise<Answer> {
    return this.#answer(`http://127.0.0.1:${gateway.port}${path}`, { method: 'GET' });
  }

  post(gateway: GatewayProcess, path: string): Promise<Answer> {
    return this.#answer(`http://127.0.0.1:${gateway.port}${path}`, { method: 'POST' });
  }

  /** So many requests wait in Redis. */
  async waiting(count: number): Promise<void> {
    const key = 'switchyard:requests-alpha:prioritized';
    await this.until(`${count} wait`, async () => (await this.client.zcard(key)) === count);
  }

  /** The SQLite file of both. */
  get database(): string {
    return join(this.folder, 'data', 'switchyard.db');
  }

  /** Uploads in the blob store. */
  audioFiles(): Promise<string[]> {
    const folder = join(this.folder, 'data', 'blobs', 'plane', 'audio');
    // An emptied folder goes with its last file.
    return existsSync(folder) ? readdir(folder) : Promise.resolve([]);
  }

  async ready(gateway: GatewayProcess, status: number): Promise<void> {
    await this.until(
      `ready answers ${status}`,
      async () => (await this.get(gateway, '/health/ready')).status === status,
    );
  }

  until(what: string, holds: () => Promise<boolean>): Promise<void> {
    const told = () => logTails([this.a, this.b]);
    return until(() => holds().catch(() => false), { what, told });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([this.a[Symbol.asyncDispose](), this.b[Symbol.asyncDispose]()]);
    await this.puller[Symbol.asyncDispose]();
    this.client.disconnect();
    await this.redis[Symbol.asyncDispose]();
  }

  async #answer(url: string, request: RequestInit): Promise<Answer> {
    const reply = await fetch(url, request);
    return {
      status: reply.status,
      headers: reply.headers,
      body: (await reply.json()) as Answer['body'],
    };
  }
}

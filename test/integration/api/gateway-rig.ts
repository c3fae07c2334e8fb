import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type NestFastifyApplication } from '@nestjs/platform-fastify';
import { createGateway } from '../../../src/gateway/bootstrap.js';
import { type ModelSpec } from '../../../src/platform/config/model-spec.js';
import { type SettingValue } from '../../../src/platform/config/setting-definition.js';
import { type SettingPath, settingsFrom } from '../../../src/platform/config/settings.js';

export interface RigOptions {
  readonly models: readonly ModelSpec[];
  readonly settings?: Partial<Record<SettingPath, SettingValue>>;
}

/** A whole gateway on a free port, with its own data folder. */
export class GatewayRig {
  private constructor(
    readonly app: NestFastifyApplication,
    readonly url: string,
    readonly dataDir: string,
  ) {}

  static async start({ models, settings = {} }: RigOptions): Promise<GatewayRig> {
    const dataDir = await mkdtemp(join(tmpdir(), 'switchyard-api-'));
    const app = await createGateway({
      models,
      settings: settingsFrom({ 'data.dir': dataDir, 'logging.level': 'silent', 'server.port': 0, ...settings }),
    });
    await app.listen(0, '127.0.0.1');
    return new GatewayRig(app, await app.getUrl(), dataDir);
  }

  get port(): number {
    return Number(new URL(this.url).port);
  }

  post(path: string, body: FormData | object, headers: Record<string, string> = {}): Promise<Response> {
    const isForm = body instanceof FormData;
    return fetch(this.url + path, {
      method: 'POST',
      headers: isForm ? headers : { 'content-type': 'application/json', ...headers },
      body: isForm ? body : JSON.stringify(body),
    });
  }

  /** Files that uploads left in the spool. */
  async spooled(): Promise<string[]> {
    return readdir(join(this.dataDir, 'spool'));
  }

  async close(): Promise<void> {
    await this.app.close();
    await rm(this.dataDir, { recursive: true, force: true });
  }
}

export interface ErrorAnswer {
  readonly status: number;
  readonly code: string | null;
  readonly param: string | null;
  readonly message: string;
  readonly type: string;
  readonly headers: Headers;
}

/** Fails unless the answer is exactly OpenAI's envelope with a request id. */
export async function errorOf(response: Response): Promise<ErrorAnswer> {
  const body = (await response.json()) as { error: Omit<ErrorAnswer, 'status' | 'headers'> };
  const keys = Object.keys(body.error).sort().join();
  if (keys !== 'code,message,param,type' || Object.keys(body).length !== 1) {
    throw new Error(`not the envelope: ${JSON.stringify(body)}`);
  }
  if (!response.headers.get('x-request-id')) throw new Error('no x-request-id on the error');
  return { status: response.status, headers: response.headers, ...body.error };
}

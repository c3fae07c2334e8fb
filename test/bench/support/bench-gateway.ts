import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join, resolve } from 'node:path';
import { type ModelSpec } from '../../../src/platform/config/model-spec.js';
import { environmentName, type SettingPath } from '../../../src/platform/config/settings.js';
import { HttpConnection, type HttpReply } from './http-connection.js';
import { plainRequest } from './http-request.js';
import { NodeProcess } from './node-process.js';
import { pause } from './waiting.js';

export type SettingOverrides = Partial<Record<SettingPath, string | number>>;

/** The real gateway, `dist/main.gateway.js`, with its own models file and the given settings, on a free port. */
export class BenchGateway implements AsyncDisposable {
  private constructor(
    readonly process: NodeProcess,
    readonly port: number,
  ) {}

  static async start(models: readonly ModelSpec[], settings: SettingOverrides, folder: string): Promise<BenchGateway> {
    const modelsFile = join(folder, 'models.yaml');
    await writeFile(modelsFile, JSON.stringify({ models })); // JSON is YAML
    const port = await freePort();
    const overrides: SettingOverrides = {
      'server.port': port,
      'data.dir': join(folder, 'data'),
      'workers.models_file': modelsFile,
      'logging.level': 'warn',
      'logging.pretty': 'false',
      ...settings,
    };
    const env = Object.fromEntries(
      Object.entries(overrides).map(([path, value]) => [environmentName(path), String(value)]),
    );
    const gateway = new BenchGateway(
      new NodeProcess({ name: 'gateway', script: resolve('dist/main.gateway.js'), env, folder }),
      port,
    );
    await gateway.process.untilExit(gateway.#ready());
    return gateway;
  }

  /** One request on a fresh connection. */
  async call(method: 'GET' | 'POST', path: string): Promise<HttpReply> {
    const connection = new HttpConnection(this.port);
    const reply = await connection.exchange(plainRequest(method, path));
    connection.destroy();
    return reply;
  }

  /** Samples of `/metrics` whose name is `name`, as label text → value. */
  async metric(name: string): Promise<ReadonlyMap<string, number>> {
    const { body } = await this.call('GET', '/metrics');
    const samples = body.toString().matchAll(new RegExp(`^${name}(?:\\{([^}]*)\\})? ([0-9.eE+-]+|NaN)$`, 'gm'));
    return new Map([...samples].map(([, labels = '', value]) => [labels, Number(value)]));
  }

  /** Sum of all samples of `name` whose labels contain every given text. */
  async metricSum(name: string, ...labels: string[]): Promise<number> {
    const samples = [...(await this.metric(name))];
    const wanted = samples.filter(([text]) => labels.every(label => text.includes(label)));
    return wanted.reduce((sum, [, value]) => sum + value, 0);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.process[Symbol.asyncDispose]();
  }

  async #ready(): Promise<void> {
    for (const endMs = performance.now() + 60_000; performance.now() < endMs; await pause(100)) {
      if ((await this.call('GET', '/health/ready')).status === 200) return;
    }
    throw new Error(`the gateway did not become ready in 60 s:\n${await this.process.logTail()}`);
  }
}

/** A port that was free a moment ago; the gateway reports no port of its own. */
async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>(listening => server.listen(0, '127.0.0.1', listening));
  const address = server.address();
  await new Promise(closed => server.close(closed));
  if (address === null || typeof address === 'string') throw new Error('no free port');
  return address.port;
}

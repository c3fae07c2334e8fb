import { writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { type ModelSpec } from '../../src/platform/config/model-spec.js';
import { environmentName, type SettingPath } from '../../src/platform/config/settings.js';
import { freePort } from './free-port.js';
import { HttpConnection, type HttpReply } from './http-connection.js';
import { plainRequest } from './http-request.js';
import { MetricsScrape } from './metrics-scrape.js';
import { NodeProcess } from './node-process.js';
import { pause, WAIT_LIMIT_MS } from './waiting.js';

/** Of their logs. */
export const logTails = (gateways: readonly GatewayProcess[]): Promise<string[]> =>
  Promise.all(gateways.map(({ process }) => process.logTail()));

export type SettingOverrides = Partial<Record<SettingPath, string | number>>;

export interface GatewayProcessOptions {
  /** For its models file, log and data. */
  readonly folder: string;
  readonly until?: 'ready' | 'live';
  /** As the models file has them; then so are the models. */
  readonly devices?: readonly object[] | undefined;
  /** To take the place of another one; absent: a free port. */
  readonly port?: number;
  /** The clone whose build and settings file it runs with; absent: this one. */
  readonly clone?: string | undefined;
  /** Added to its environment. */
  readonly env?: NodeJS.ProcessEnv;
}

/**
 * The real gateway, `dist/main.gateway.js`, with its own models file and the given
 * settings, on a free port.
 */
export class GatewayProcess implements AsyncDisposable {
  private constructor(
    readonly process: NodeProcess,
    readonly port: number,
  ) {}

  /**
   * @param options.until `/health/ready` by default; `live` for a gateway that
   *   cannot get ready
   */
  static async start(
    models: readonly ModelSpec[],
    settings: SettingOverrides,
    { folder, until = 'ready', port: wanted, clone, env: added, devices }: GatewayProcessOptions,
  ): Promise<GatewayProcess> {
    const modelsFile = join(folder, 'models.yaml');
    await writeFile(modelsFile, JSON.stringify({ devices, models })); // JSON is YAML
    const port = wanted ?? (await freePort());
    const overrides: SettingOverrides = {
      'server.port': port,
      'data.dir': join(folder, 'data'),
      'workers.models_file': modelsFile,
      'logging.level': 'warn',
      'logging.pretty': 'false',
      'batch.embedded': 'false',
      ...settings,
    };
    const env = Object.fromEntries(
      Object.entries(overrides).map(([path, value]) => [environmentName(path), String(value)]),
    );
    const gateway = new GatewayProcess(
      new NodeProcess({
        name: 'gateway',
        script: resolve(clone ?? '.', 'dist/main.gateway.js'),
        env: { ...env, ...added },
        folder,
        cwd: clone,
      }),
      port,
    );
    try {
      await gateway.process.untilExit(gateway.#answers(`/health/${until}`));
    } catch (error) {
      // No other code knows of it yet.
      await gateway[Symbol.asyncDispose]();
      throw error;
    }
    return gateway;
  }

  /** One request on a fresh connection. */
  async call(method: 'GET' | 'POST', path: string): Promise<HttpReply> {
    const connection = new HttpConnection(this.port);
    const reply = await connection.exchange(plainRequest(method, path));
    connection.destroy();
    return reply;
  }

  async scrape(): Promise<MetricsScrape> {
    return new MetricsScrape((await this.call('GET', '/metrics')).body.toString());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.process[Symbol.asyncDispose]();
  }

  get #lives(): boolean {
    const { exitCode, signalCode } = this.process.child;
    return exitCode === null && signalCode === null;
  }

  async #answers(path: string): Promise<void> {
    for (
      const endMs = performance.now() + WAIT_LIMIT_MS;
      performance.now() < endMs && this.#lives;
      await pause(100)
    ) {
      if ((await this.call('GET', path)).status === 200) return;
    }
    throw new Error(`the gateway did not answer ${path}:\n${await this.process.logTail()}`);
  }
}

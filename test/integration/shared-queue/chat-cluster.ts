import { Agent } from 'node:http';
import { request as send } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { CountingServer } from '../../support/counting-server.js';
import { GatewayProcess, type SettingOverrides } from '../../support/gateway-process.js';
import { RedisServer } from '../../support/redis-server.js';
import { syntheticModel } from '../../support/synthetic-model.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { pause, WAIT_LIMIT_MS } from '../../support/waiting.js';

/** Requests at the server at the same time. */
export const SLOTS = 8;

export interface ChatAnswer {
  /** 0: the connection broke. */
  readonly status: number;
  readonly body: string;
  readonly tookMs: number;
}

/** Gateways with one Redis before one server that counts. */
export class ChatCluster implements AsyncDisposable {
  readonly gateways: GatewayProcess[] = [];
  readonly #agent = new Agent({ keepAlive: true, maxSockets: Infinity });
  readonly #folder = temporaryFolder();

  private constructor(
    readonly redis: RedisServer,
    readonly server: CountingServer,
    private readonly settings: SettingOverrides,
  ) {}

  static async start(
    gateways: number,
    { holdMs = 50, settings = {} }: { holdMs?: number; settings?: SettingOverrides } = {},
  ): Promise<ChatCluster> {
    const [redis, server] = [await RedisServer.start(), await CountingServer.start(holdMs)];
    const cluster = new ChatCluster(redis, server, settings);
    for (let nth = 0; nth < gateways; nth++) await cluster.add();
    return cluster;
  }

  async add(): Promise<GatewayProcess> {
    const model = syntheticModel(
      { baseUrl: this.server.baseUrl, model: 'm', maxConcurrent: SLOTS },
      { id: 'chat', kind: 'llm', engine: 'openai-http', capabilities: ['chat'] },
    );
    const gateway = await GatewayProcess.start(
      [model],
      {
        ...{ 'queue.driver': 'redis', 'redis.url': this.redis.url },
        ...{ 'data.dir': join(this.#folder, 'data'), 'requests.idempotency': 'off' },
        ...this.settings,
      },
      { folder: this.#folder },
    );
    this.gateways.push(gateway);
    return gateway;
  }

  async kill(gateway: GatewayProcess): Promise<void> {
    this.gateways.splice(this.gateways.indexOf(gateway), 1);
    gateway.process.child.kill('SIGKILL');
    await gateway[Symbol.asyncDispose]();
  }

  /** One chat that says so; never rejects. */
  async chat(
    gateway: GatewayProcess,
    said: string,
    { headers = {}, stream = false }: { headers?: Record<string, string>; stream?: boolean } = {},
  ): Promise<ChatAnswer> {
    const fromMs = performance.now();
    const body = JSON.stringify({
      ...{ model: 'chat', stream },
      messages: [{ role: 'user', content: said }],
    });
    return new Promise(resolve => {
      const ended = (status: number, answer = ''): void =>
        resolve({ status, body: answer, tookMs: performance.now() - fromMs });
      const request = send(
        {
          ...{ agent: this.#agent, host: '127.0.0.1', port: gateway.port, method: 'POST' },
          path: '/v1/chat/completions',
          headers: { 'content-type': 'application/json', ...headers },
        },
        response => {
          const { statusCode = 0 } = response;
          text(response).then(
            answer => ended(statusCode, answer),
            () => ended(0),
          );
        },
      );
      request.on('error', () => ended(0));
      request.end(body);
    });
  }

  async until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
    const endMs = performance.now() + WAIT_LIMIT_MS;
    while (performance.now() < endMs) {
      if (await holds()) return;
      await pause(10);
    }
    const logs = await Promise.all(this.gateways.map(({ process }) => process.logTail()));
    throw new Error(`waited for: ${what}\n${logs.join('\n---\n')}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.gateways.map(gateway => gateway[Symbol.asyncDispose]()));
    this.#agent.destroy();
    await this.server[Symbol.asyncDispose]();
    await this.redis[Symbol.asyncDispose]();
  }
}

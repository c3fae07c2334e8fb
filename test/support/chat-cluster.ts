import { Agent } from 'node:http';
import { request as send } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { type ModelSpec } from '../../src/platform/config/model-spec.js';
import { CountingServer } from './counting-server.js';
import { GatewayProcess, logTails, type SettingOverrides } from './gateway-process.js';
import { RedisServer } from './redis-server.js';
import { syntheticModel } from './synthetic-model.js';
import { temporaryFolder } from './temporary-folder.js';
import { until } from './waiting.js';

/** Requests at the server at the same time. */
export const SLOTS = 8;

export interface ChatAnswer {
  /** 0: the connection broke. */
  readonly status: number;
  readonly body: string;
  /** In the queue, as the gateway says. */
  readonly waitedMs: number;
  readonly tookMs: number;
}

interface ChatClusterOptions {
  readonly holdMs?: number;
  readonly settings?: SettingOverrides;
  /** Beside `chat`, which that server serves. */
  readonly models?: readonly ModelSpec[];
}

interface Chat {
  readonly headers?: Record<string, string>;
  readonly stream?: boolean;
  readonly model?: string;
  readonly maxTokens?: number;
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
    private readonly models: readonly ModelSpec[],
  ) {}

  static async start(
    gateways: number,
    { holdMs = 50, settings = {}, models = [] }: ChatClusterOptions = {},
  ): Promise<ChatCluster> {
    const [redis, server] = [await RedisServer.start(), await CountingServer.start(holdMs)];
    const cluster = new ChatCluster(redis, server, settings, models);
    for (let nth = 0; nth < gateways; nth++) await cluster.add();
    return cluster;
  }

  async add(): Promise<GatewayProcess> {
    const model = syntheticModel(
      { baseUrl: this.server.baseUrl, model: 'm', maxConcurrent: SLOTS },
      { id: 'chat', kind: 'llm', engine: 'openai-http', capabilities: ['chat'] },
    );
    const gateway = await GatewayProcess.start(
      [model, ...this.models],
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
    { headers = {}, stream = false, model = 'chat', maxTokens }: Chat = {},
  ): Promise<ChatAnswer> {
    const fromMs = performance.now();
    const body = JSON.stringify({
      ...{ model, stream, max_tokens: maxTokens },
      messages: [{ role: 'user', content: said }],
    });
    return new Promise(resolve => {
      const ended = (status: number, answer = '', waitedMs = 0): void =>
        resolve({ status, body: answer, waitedMs, tookMs: performance.now() - fromMs });
      const request = send(
        {
          ...{ agent: this.#agent, host: '127.0.0.1', port: gateway.port, method: 'POST' },
          path: '/v1/chat/completions',
          headers: { 'content-type': 'application/json', ...headers },
        },
        response => {
          const { statusCode = 0, headers: told } = response;
          text(response).then(
            answer => ended(statusCode, answer, Number(told['x-switchyard-queue-ms'] ?? 0)),
            () => ended(0),
          );
        },
      );
      request.on('error', () => ended(0));
      request.end(body);
    });
  }

  until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
    return until(holds, { what, told: () => logTails(this.gateways) });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.gateways.map(gateway => gateway[Symbol.asyncDispose]()));
    this.#agent.destroy();
    await this.server[Symbol.asyncDispose]();
    await this.redis[Symbol.asyncDispose]();
  }
}

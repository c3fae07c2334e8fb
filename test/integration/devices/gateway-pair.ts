import { once } from 'node:events';
import { join } from 'node:path';
import { isAlive } from '@switchyard/engine-api/process/is-alive.js';
import { type Redis } from 'ioredis';
import { type ModelSpec } from '../../../src/platform/config/model-spec.js';
import { DEVICES } from '../../support/device-rig.js';
import { formOf } from '../../support/form-of.js';
import { GatewayProcess, logTails, type SettingOverrides } from '../../support/gateway-process.js';
import { leftover } from '../../support/leftovers.js';
import { redisClient } from '../../support/redis-client.js';
import { RedisServer } from '../../support/redis-server.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { pause, until } from '../../support/waiting.js';

interface ShownDevice {
  readonly used_bytes: number;
  readonly loaded_by?: string;
}

/** Two gateways of one machine with one Redis, which have the same models on one device. */
export class GatewayPair implements AsyncDisposable {
  /** Processes of models that were alive at the same time, at most. */
  most = 0;
  readonly #pids = new Set<number>();
  readonly #silent = new Set<GatewayProcess>();
  readonly client: Redis;
  #watched = true;

  private constructor(
    readonly redis: RedisServer,
    readonly gateways: GatewayProcess[],
    private readonly another: () => Promise<GatewayProcess>,
  ) {
    this.client = redisClient(redis.url);
    void this.#watch();
    leftover(() => this[Symbol.asyncDispose]());
  }

  static async start(
    models: readonly ModelSpec[],
    settings: SettingOverrides = {},
  ): Promise<GatewayPair> {
    const [folder, redis] = [temporaryFolder(), await RedisServer.start()];
    const shared: SettingOverrides = {
      ...{ 'queue.driver': 'redis', 'redis.url': redis.url, 'requests.idempotency': 'off' },
      ...{ 'data.dir': join(folder, 'data'), ...settings },
    };
    const options = { folder, devices: DEVICES };
    const another = () => GatewayProcess.start(models, shared, options);
    return new GatewayPair(redis, [await another(), await another()], another);
  }

  /** Model processes that are alive. */
  get alive(): readonly number[] {
    return [...this.#pids].filter(pid => isAlive(pid));
  }

  async ask(gateway: GatewayProcess, model: string, priority = 'batch', text = 'a') {
    const form = formOf({ model }, text);
    const url = `http://127.0.0.1:${gateway.port}/v1/audio/transcriptions`;
    const headers = { 'x-priority': priority, connection: 'close' };
    const response = await fetch(url, { method: 'POST', body: form, headers });
    return { status: response.status, body: await response.text() };
  }

  async chat(gateway: GatewayProcess, model: string, said = 'a', priority = 'batch') {
    const response = await this.#generate(gateway, model, said, { priority });
    return { status: response.status, body: await response.text() };
  }

  /**
   * Resolves with the first part of an answer that is sent as a stream; `rest` with all of it,
   * and whether it is whole.
   */
  async stream(gateway: GatewayProcess, model: string, said: string) {
    const response = await this.#generate(gateway, model, said, { stream: true });
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
    const parts: string[] = [(await reader.read()).value ?? ''];
    const readAll = async () => {
      for (;;) {
        const { done, value } = await reader.read();
        if (done) break;
        parts.push(value);
      }
      return parts.join('');
    };
    const rest = readAll().then(
      text => ({ isWhole: text.trimEnd().endsWith('[DONE]') && !text.includes('"error"'), text }),
      (error: unknown) => ({ isWhole: false, text: String(error) }),
    );
    return { status: response.status, rest };
  }

  #generate(
    { port }: GatewayProcess,
    model: string,
    said: string,
    { priority = 'batch', stream = false },
  ): Promise<Response> {
    const messages = [{ role: 'user', content: said }];
    return fetch(`http://127.0.0.1:${port}/v1/chat/completions`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'x-priority': priority,
        connection: 'close',
      },
      body: JSON.stringify({ model, messages, stream }),
    });
  }

  /** At all gateways that answer. */
  async loads(model: string): Promise<number> {
    const scrapes = await Promise.all(this.#answering.map(gateway => gateway.scrape()));
    return scrapes.reduce(
      (sum, scrape) => sum + scrape.sum('switchyard_model_loads_total', `model="${model}"`),
      0,
    );
  }

  async device(gateway: GatewayProcess): Promise<ShownDevice> {
    const { data } = await json<{ data: ShownDevice[] }>(gateway, '/admin/v1/devices');
    return data[0]!;
  }

  async stateOf(gateway: GatewayProcess, model: string): Promise<string> {
    const { state } = await json<{ state: string }>(gateway, `/v1/models/${model}`);
    return state;
  }

  /** Resolves when one of them loads models: it, then the other one. */
  async roles(): Promise<readonly [GatewayProcess, GatewayProcess]> {
    let found: readonly GatewayProcess[] = [];
    await this.until('one gateway loads, and the other one knows it', async () => {
      const [a, b] = await Promise.all(this.gateways.map(gateway => this.device(gateway)));
      if ((a!.loaded_by === undefined) === (b!.loaded_by === undefined)) return false;
      found = a!.loaded_by === undefined ? this.gateways : this.gateways.toReversed();
      return true;
    });
    return [found[0]!, found[1]!];
  }

  /** kill -9 */
  kill(gateway: GatewayProcess): Promise<void> {
    return this.#end(gateway, 'SIGKILL');
  }

  /** kill -9 of one of the two, and another one in its place. */
  async replace(at: number): Promise<void> {
    await this.kill(this.gateways[at]!);
    this.gateways[at] = await this.another();
  }

  /** Before the next test: both serve, and what was alive at the same time counts from here. */
  async again(): Promise<void> {
    for (const [at, gateway] of this.gateways.entries())
      if (this.#silent.has(gateway)) this.gateways[at] = await this.another();
    this.most = 0;
  }

  /** It was killed or stopped, or is frozen. */
  isSilent(gateway: GatewayProcess): boolean {
    return this.#silent.has(gateway);
  }

  stop(gateway: GatewayProcess): Promise<void> {
    return this.#end(gateway, 'SIGTERM');
  }

  freeze(gateway: GatewayProcess): void {
    this.#silent.add(gateway);
    gateway.process.child.kill('SIGSTOP');
  }

  thaw(gateway: GatewayProcess): void {
    gateway.process.child.kill('SIGCONT');
    this.#silent.delete(gateway);
  }

  until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
    return until(holds, { what, everyMs: 50, told: () => logTails(this.gateways) });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#watched = false;
    this.client.disconnect();
    await Promise.all(this.gateways.map(gateway => gateway[Symbol.asyncDispose]()));
    await this.redis[Symbol.asyncDispose]();
  }

  get #answering(): readonly GatewayProcess[] {
    return this.gateways.filter(gateway => !this.#silent.has(gateway));
  }

  async #end(gateway: GatewayProcess, signal: NodeJS.Signals): Promise<void> {
    this.#silent.add(gateway);
    const exited = once(gateway.process.child, 'exit');
    gateway.process.child.kill(signal);
    await exited;
  }

  async #watch(): Promise<void> {
    for (; this.#watched; await pause(100)) {
      for (const gateway of this.#answering) await this.#note(gateway).catch(() => undefined);
      this.most = Math.max(this.most, this.alive.length);
    }
  }

  async #note(gateway: GatewayProcess): Promise<void> {
    const url = `http://127.0.0.1:${gateway.port}/admin/v1/workers`;
    // It may be frozen meanwhile.
    const response = await fetch(url, { signal: AbortSignal.timeout(500) });
    const { data } = (await response.json()) as { data: { pid?: number }[] };
    for (const { pid } of data) if (pid !== undefined) this.#pids.add(pid);
  }
}

const json = async <T>({ port }: GatewayProcess, path: string): Promise<T> =>
  (await (await fetch(`http://127.0.0.1:${port}${path}`)).json()) as T;

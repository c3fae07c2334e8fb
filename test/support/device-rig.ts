import { isAlive } from '@switchyard/engine-api/process/is-alive.js';
import { type ModelSpec } from '../../src/platform/config/model-spec.js';
import { type SettingOverrides } from './gateway-process.js';
import { leftover } from './leftovers.js';
import { Product } from './product.js';
import { pause } from './waiting.js';

export const DEVICES = [{ id: 'gpu0', memory: '10GiB' }];
export const LOAD_MS = 1500;

/** As the models file has it: two of three fit, unless told otherwise. */
export const onDevice = (id: string, fields: object = {}, options: object = {}): ModelSpec =>
  ({
    ...{ id, kind: 'stt', engine: 'synthetic', capabilities: ['transcribe', 'stream'] },
    ...{ device: 'gpu0', memory: '5GiB', ...fields },
    options: { baseMs: 50, loadMs: LOAD_MS, maxBatch: 4, streams: 2, ...options },
  }) as unknown as ModelSpec;

/** A product and what is asked of it. */
export class DeviceRig implements AsyncDisposable {
  #watched = true;
  /** Of model processes, by their ids. */
  readonly #models = new Map<number, string>();
  /** Models whose processes were alive at the same time. */
  readonly #together: (readonly string[])[] = [];

  private constructor(readonly product: Product) {
    void this.#watch();
    leftover(() => this[Symbol.asyncDispose]());
  }

  static async start(
    models: readonly ModelSpec[],
    devices: readonly object[] = DEVICES,
    settings: SettingOverrides = {},
  ): Promise<DeviceRig> {
    return new DeviceRig(await Product.start(models, settings, { devices }));
  }

  /** Model processes, by their ids, that are alive. */
  get alive(): readonly number[] {
    return [...this.#models.keys()].filter(pid => isAlive(pid));
  }

  /** Of their processes, those that were alive at the same time, at most. */
  most(...models: readonly string[]): number {
    const counts = this.#together.map(alive => alive.filter(id => models.includes(id)).length);
    return Math.max(0, ...counts);
  }

  async ask(model: string, priority: 'realtime' | 'batch' = 'batch', text = 'a') {
    const response = await this.product.transcribe(text, { model, priority });
    return { status: response.status, body: await response.text() };
  }

  async loads(model: string): Promise<number> {
    const scrape = await this.product.gateway.scrape();
    return scrape.sum('switchyard_model_loads_total', `model="${model}"`);
  }

  /** Of the request that waits for that model. */
  async explanation(model: string): Promise<string> {
    const path = `/admin/v1/requests?state=queued&model=${model}`;
    const { data } = await this.product.json<{
      data: { explanation: string; waits_for: string }[];
    }>(path);
    return `${data[0]?.waits_for}: ${data[0]?.explanation}`;
  }

  stateOf = async (model: string): Promise<string> => {
    const { data } = await this.product.json<{ data: { id: string; state: string }[] }>(
      '/admin/v1/models',
    );
    return data.find(({ id }) => id === model)!.state;
  };

  untilState(model: string, state: string): Promise<void> {
    return this.product.until(
      `${model} ${state}`,
      async () => (await this.stateOf(model)) === state,
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#watched = false;
    await this.product[Symbol.asyncDispose]();
  }

  async #watch(): Promise<void> {
    for (; this.#watched; await pause(100)) {
      const workers = await this.product.workers().catch(() => []);
      for (const { pid, model } of workers) if (pid !== undefined) this.#models.set(pid, model);
      this.#together.push(this.alive.map(pid => this.#models.get(pid)!));
    }
  }
}

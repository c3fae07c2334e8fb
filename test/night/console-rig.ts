import { type Page } from 'playwright-core';
import { KeysFolder } from '../integration/auth/keys-folder.js';
import { formOf } from '../support/form-of.js';
import { type SettingOverrides } from '../support/gateway-process.js';
import { Product } from '../support/product.js';
import { syntheticModel } from '../support/synthetic-model.js';

/** Of the console, by their paths. */
export const VIEWS = [
  '',
  'requests',
  'batches',
  'models',
  'workers',
  'playground',
  'tenants',
  'settings',
  'health',
];

const HANG = 'hang please';
const FAIL = 'fail please';
const FAULTS = [
  { marker: HANG, action: 'hang' },
  { marker: FAIL, action: 'fail' },
];

/** @param slowness of the synthetic devices; 0: as fast as this machine */
const models = (slowness: number) => [
  syntheticModel(
    {
      baseMs: 180 * slowness,
      jitter: 0.4,
      maxBatch: 4,
      maxConcurrent: 2,
      faults: FAULTS,
    },
    {
      id: 'whisper-small',
      replicas: 2,
      aliases: ['whisper-1'],
      languages: ['en', 'de'],
    },
  ),
  syntheticModel(
    {
      baseMs: 60 * slowness,
      perTokenMs: 15 * slowness,
      tokens: 24,
      maxConcurrent: 4,
      faults: FAULTS,
    },
    {
      ...{ id: 'qwen3-8b', kind: 'llm', capabilities: ['chat'] },
    },
  ),
  syntheticModel(
    { baseMs: 80, maxBatch: 1, faults: FAULTS },
    { id: 'kokoro', kind: 'tts', capabilities: [], voices: { alloy: 'alloy' } },
  ),
];

/**
 * A product with keys, three tenants and work of every kind; for pictures and
 * measurements of the console.
 */
export class ConsoleRig implements AsyncDisposable {
  #stopped = false;
  readonly #loops: Promise<void>[] = [];

  private constructor(
    readonly product: Product,
    readonly keys: KeysFolder,
    readonly operator: string,
    private readonly tenants: readonly string[],
  ) {}

  static async start(settings: SettingOverrides = {}, { fast = false } = {}): Promise<ConsoleRig> {
    const keys = new KeysFolder();
    const operator = keys.add('operator', 'inference', 'admin', 'events');
    const tenants = ['acme', 'globex', 'initech'].map(tenant => keys.add(tenant, 'inference'));
    const product = await Product.start(models(fast ? 0 : 1), {
      ...{
        'batch.embedded': 'true',
        'auth.keys_file': keys.file,
        'auth.public_metrics': 'true',
        ...settings,
      },
    });
    return new ConsoleRig(product, keys, operator, tenants);
  }

  /** Each client of a tenant sends one request after the other. */
  load(clients: readonly number[]): void {
    clients.forEach((count, at) => {
      for (let client = 0; client < count; client += 1) this.#loops.push(this.#client(at, client));
    });
  }

  async ask(
    path: string,
    body: FormData | object,
    headers: Record<string, string> = {},
    key = this.operator,
  ) {
    const isForm = body instanceof FormData;
    return fetch(this.product.url + path, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${key}`,
        ...(!isForm && { 'content-type': 'application/json' }),
        ...headers,
      },
      body: isForm ? body : JSON.stringify(body),
    });
  }

  /** The data of a list. */
  async list(path: string): Promise<unknown[]> {
    const answer = await fetch(this.product.url + path, {
      headers: { authorization: `Bearer ${this.operator}` },
    });
    return ((await answer.json()) as { data: unknown[] }).data;
  }

  async batch(lines: number, failing = 0): Promise<string> {
    const text = Array.from({ length: lines }, (_, n) => {
      const content = n < failing ? FAIL : 'hello';
      const body = { model: 'qwen3-8b', messages: [{ role: 'user', content }] };
      return JSON.stringify({
        custom_id: `line-${n}`,
        method: 'POST',
        url: '/v1/chat/completions',
        body,
      });
    });
    const file = (await (
      await this.ask('/v1/files', formOf({ purpose: 'batch' }, text.join('\n'), 'lines.jsonl'))
    ).json()) as { id: string };
    const order = {
      input_file_id: file.id,
      endpoint: '/v1/chat/completions',
      completion_window: '24h',
    };
    return ((await (await this.ask('/v1/batches', order)).json()) as { id: string }).id;
  }

  async signIn(page: Page): Promise<void> {
    await page.goto(`${this.product.url}/console`);
    await page.getByLabel('API key').fill(this.operator);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.locator('nav').first().waitFor({ state: 'attached' });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopped = true;
    await this.product.gateway[Symbol.asyncDispose]();
    await Promise.all(this.#loops);
    await this.product[Symbol.asyncDispose]();
  }

  async #client(tenant: number, client: number): Promise<void> {
    for (let turn = 0; !this.#stopped; turn += 1) {
      const priority = (tenant + client) % 3 === 0 ? 'realtime' : 'batch';
      const text = turn % 40 === 39 ? FAIL : `clip ${turn}`;
      const answer =
        client % 2 === 0
          ? this.#transcribe(text, priority, tenant)
          : this.#chat(text, priority, tenant);
      const failed = await answer.then(
        reply => reply.arrayBuffer().then(() => !reply.ok),
        () => true,
      );
      if (failed) await new Promise(resolve => setTimeout(resolve, 200));
    }
  }

  #transcribe(text: string, priority: string, tenant: number): Promise<Response> {
    const form = formOf({ model: 'whisper-small' }, text, 'clip.wav');
    return this.ask(
      '/v1/audio/transcriptions',
      form,
      { 'x-priority': priority },
      this.tenants[tenant],
    );
  }

  #chat(content: string, priority: string, tenant: number): Promise<Response> {
    const body = { model: 'qwen3-8b', messages: [{ role: 'user', content }] };
    return this.ask('/v1/chat/completions', body, { 'x-priority': priority }, this.tenants[tenant]);
  }
}

import { type ModelSpec } from '../../src/platform/config/model-spec.js';
import { settingsFrom } from '../../src/platform/config/settings.js';
import { formOf } from './form-of.js';
import {
  GatewayProcess,
  type GatewayProcessOptions,
  type SettingOverrides,
} from './gateway-process.js';
import { HostedWorkers } from './hosted-worker.js';
import { leftover } from './leftovers.js';
import { temporaryFolder } from './temporary-folder.js';
import { until } from './waiting.js';

interface WorkerSummary {
  readonly id: string;
  readonly model: string;
  readonly state: string;
  readonly pid?: number;
  readonly restarts: number;
  readonly slots: { readonly total: number; readonly free: number };
}

/**
 * The built product as an operator runs it: gateway process, worker processes, its
 * own data folder.
 */
export class Product implements AsyncDisposable {
  private constructor(
    readonly gateway: GatewayProcess,
    /** Of its models file, log and data. */
    readonly folder: string,
    private readonly hosted: HostedWorkers | undefined,
  ) {}

  static async start(
    models: readonly ModelSpec[],
    settings: SettingOverrides = {},
    options: Pick<GatewayProcessOptions, 'until' | 'devices'> = {},
  ): Promise<Product> {
    return Product.#start(models, settings, options);
  }

  /** The same with its workers in this process: for what does not end them. */
  static async hosted(
    models: readonly ModelSpec[],
    settings: SettingOverrides = {},
  ): Promise<Product> {
    const hosted = await HostedWorkers.start(models, settingsFrom(settings));
    return Product.#start(hosted.models, settings, {}, hosted);
  }

  static async #start(
    models: readonly ModelSpec[],
    settings: SettingOverrides,
    options: Pick<GatewayProcessOptions, 'until' | 'devices'>,
    hosted?: HostedWorkers,
  ): Promise<Product> {
    const folder = temporaryFolder();
    const gateway = await GatewayProcess.start(models, settings, { folder, ...options });
    const product = new Product(gateway, folder, hosted);
    leftover(() => product[Symbol.asyncDispose]());
    return product;
  }

  get url(): string {
    return `http://127.0.0.1:${this.gateway.port}`;
  }

  /**
   * Sends an upload whose bytes are `text`; the synthetic engine echoes what it was sent.
   */
  transcribe(
    text: string,
    options: {
      id?: string;
      priority?: 'realtime' | 'batch';
      model?: string;
      key?: string;
      deadlineMs?: number;
    } = {},
  ): Promise<Response> {
    const form = formOf({ model: options.model ?? 'synthetic' }, text, 'clip.wav');
    const headers: Record<string, string> = { connection: 'close' };
    if (options.id) headers['x-request-id'] = options.id;
    if (options.priority) headers['x-priority'] = options.priority;
    if (options.deadlineMs) headers['x-deadline-ms'] = String(options.deadlineMs);
    if (options.key) headers.authorization = `Bearer ${options.key}`;
    return fetch(`${this.url}/v1/audio/transcriptions`, {
      method: 'POST',
      body: form,
      headers,
    });
  }

  async json<T>(path: string): Promise<T> {
    return (await (await fetch(this.url + path)).json()) as T;
  }

  async workers(): Promise<readonly WorkerSummary[]> {
    return (await this.json<{ data: WorkerSummary[] }>('/admin/v1/workers')).data;
  }

  /**
   * Resolves when the admin listing shows what is wanted; a gate on state, not on time.
   */
  until(what: string, holds: () => Promise<boolean>): Promise<void> {
    return until(holds, { what, everyMs: 50, told: () => this.gateway.process.logTail() });
  }

  allReady(): Promise<void> {
    return this.until('its workers', async () =>
      (await this.workers()).every(({ state }) => state === 'ready'),
    );
  }

  untilRunning(count: number): Promise<void> {
    return this.until(`${count} requests on workers`, async () => {
      const { data } = await this.json<{ data: unknown[] }>('/admin/v1/requests?state=running');
      return data.length >= count;
    });
  }

  /**
   * accepted = queued + running + completed + failed + cancelled
   * (docs/reference/metrics.md).
   */
  async books(): Promise<{
    accepted: number;
    queued: number;
    running: number;
    settled: number;
  }> {
    const scrape = await this.gateway.scrape();
    return {
      accepted: scrape.sum('switchyard_requests_accepted_total'),
      queued: scrape.sum('scheduler_queue_depth'),
      running: scrape.sum('switchyard_requests_running'),
      settled: scrape.sum('scheduler_requests_total'),
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.gateway[Symbol.asyncDispose]();
    await this.hosted?.[Symbol.asyncDispose]();
  }
}

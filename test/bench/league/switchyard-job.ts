import { createWriteStream, openAsBlob } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type GatewayProcess } from '../../support/gateway-process.js';
import { pause } from '../../support/waiting.js';
import { gatewayTo } from './contestants.js';
import {
  IN_FLIGHT,
  type JobContestant,
  type JobPlace,
  type JobRunner,
  killTree,
  POLL_MS,
} from './job-runner.js';

/**
 * Who the processor sends lines to: the gateway, which passes them on, or the upstream
 * (`batch.targets_file`).
 */
type Target = 'gateway' | 'upstream';

/** Gateway and batch processor at their defaults, but for the lines at a time. */
class SwitchyardJob implements JobRunner {
  #batch = '';

  private constructor(
    private readonly place: JobPlace,
    private readonly target: Target,
    private gateway: GatewayProcess,
  ) {}

  static async start(place: JobPlace, target: Target): Promise<JobRunner> {
    return new SwitchyardJob(place, target, await SwitchyardJob.#gateway(place, target));
  }

  get pids() {
    return [this.gateway.process.child.pid];
  }

  async begin(): Promise<void> {
    const form = new FormData();
    form.set('purpose', 'batch');
    form.set('file', await openAsBlob(this.place.input), basename(this.place.input));
    const file = await this.#call<{ id: string }>('files', {
      method: 'POST',
      body: form,
    });
    const order = {
      input_file_id: file.id,
      endpoint: '/v1/chat/completions',
      completion_window: '24h',
    };
    const headers = { 'content-type': 'application/json' };
    const batch = { method: 'POST', headers, body: JSON.stringify(order) };
    ({ id: this.#batch } = await this.#call<{ id: string }>('batches', batch));
  }

  async finish(): Promise<void> {
    for (; ; await pause(POLL_MS)) {
      const { status, output_file_id } = await this.#call<Batch>(`batches/${this.#batch}`);
      if (['failed', 'expired', 'cancelled'].includes(status))
        throw new Error(`the batch is ${status}`);
      if (status !== 'completed') continue;
      const { body } = await this.#fetch(`files/${output_file_id}/content`);
      return pipeline(Readable.fromWeb(body!), createWriteStream(this.place.output));
    }
  }

  /** Both at once, as when the machine goes down. */
  async kill(): Promise<void> {
    killTree(this.gateway.process.child);
    await this.gateway[Symbol.asyncDispose]();
  }

  async restart(): Promise<void> {
    this.gateway = await SwitchyardJob.#gateway(this.place, this.target, this.gateway.port);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.gateway[Symbol.asyncDispose]();
  }

  static async #gateway(place: JobPlace, target: Target, port?: number): Promise<GatewayProcess> {
    const { folder, upstreamPort } = place;
    const targets = join(folder, 'targets.yaml');
    const retries = { max_retries: 3, initial_backoff: '1s', max_backoff: '60s' };
    const upstream = {
      url: `http://127.0.0.1:${upstreamPort}`,
      request_timeout: '10m',
      ...retries,
    };
    await writeFile(targets, JSON.stringify({ global_inference_gateway: upstream }));
    const settings = {
      'batch.embedded': 'true',
      'batch.concurrency': IN_FLIGHT,
      'batch.concurrency_per_model': IN_FLIGHT,
      ...(target === 'upstream' && { 'batch.targets_file': targets }),
    };
    return gatewayTo(upstreamPort, settings, {
      folder,
      ...(port !== undefined && { port }),
    });
  }

  async #call<T>(path: string, init?: RequestInit): Promise<T> {
    return (await (await this.#fetch(path, init)).json()) as T;
  }

  async #fetch(path: string, init?: RequestInit): Promise<Response> {
    const response = await fetch(`http://127.0.0.1:${this.gateway.port}/v1/${path}`, init);
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return response;
  }
}

interface Batch {
  readonly status: string;
  readonly output_file_id: string;
}

const switchyard = (name: string, target: Target): JobContestant => ({
  name,
  version: '',
  start: place => SwitchyardJob.start(place, target),
});

export const SWITCHYARDS = [
  switchyard('switchyard', 'gateway'),
  switchyard('switchyard to upstream', 'upstream'),
];

import { randomUUID } from 'node:crypto';
import type { GatewayClient } from './shared/gateway-client.js';
import { ProgressLine } from './shared/terminal.js';

const EVERY_MS = 500;

/**
 * A request to the gateway, and where it is while its answer is awaited.
 * @param use called with the answer; the watching ends with it, unless it ends it before
 */
export async function watched<T>(
  client: GatewayClient,
  path: string,
  { body, priority }: { readonly body: object; readonly priority: string | undefined },
  use: (response: Response, watch: RequestWatch) => Promise<T>,
): Promise<T> {
  const watch = new RequestWatch(client);
  try {
    const headers = {
      'x-request-id': watch.id,
      ...(priority !== undefined && { 'x-priority': priority }),
    };
    return await use(await client.request('post', path, { body, headers }), watch);
  } finally {
    watch.stop();
  }
}

/** Asks the gateway where a request is until `stop`, and shows it on stderr. */
export class RequestWatch {
  readonly id = `cli-${randomUUID()}`;
  readonly #line = new ProgressLine();
  readonly #timer: NodeJS.Timeout;
  readonly #stopped = new AbortController();

  constructor(private readonly client: GatewayClient) {
    this.#line.show('sending');
    this.#timer = setInterval(() => void this.#look(), EVERY_MS);
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#stopped.abort();
    this.#line.clear();
  }

  /**
   * Where the time went, as the gateway books it; after the end, since a streamed answer
   * begins before it is known.
   */
  async timings(): Promise<string> {
    const { phases } = await this.#ask();
    return Object.entries(phases)
      .map(([name, ms]) => `${name.replace(/_ms$/, '')} ${ms.toFixed(1)} ms`)
      .join(', ');
  }

  #ask(signal?: AbortSignal) {
    return this.client.call('get', '/v1/requests/{id}', { id: this.id, signal });
  }

  async #look() {
    try {
      const { signal } = this.#stopped;
      const { state, position, model } = await this.#ask(signal);
      if (signal.aborted) return;
      const isQueued = state === 'queued' && position !== undefined;
      this.#line.show(
        isQueued ? `queued: number ${position} in the queue of ${model}` : state,
      );
    } catch {
      // Not there before the upload is in, and after the end; the request itself reports
      // a failed answer.
    }
  }
}

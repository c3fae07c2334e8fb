import { type GatewayClient } from './shared/gateway-client.js';
import { type ProgressLine } from './shared/terminal.js';

const EVERY_MS = 500;

interface RequestState {
  readonly state: string;
  readonly position?: number;
  readonly model?: string;
  readonly phases?: Readonly<Record<string, number>>;
}

/**
 * Shows where a request is while its answer is awaited, by asking the gateway;
 * `stop` ends it.
 */
export class RequestWatch {
  readonly #timer: NodeJS.Timeout;
  readonly #stopped = new AbortController();

  constructor(
    private readonly client: GatewayClient,
    private readonly id: string,
    private readonly line: ProgressLine,
  ) {
    line.show('sending');
    this.#timer = setInterval(() => void this.#look(), EVERY_MS);
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#stopped.abort();
    this.line.clear();
  }

  /**
   * Where the time went, as the gateway books it; after the end, since a streamed answer
   * begins before it is known.
   */
  async timings(): Promise<string> {
    const { phases = {} } = await this.client.json<RequestState>(
      `/v1/requests/${this.id}`,
    );
    const parts = Object.entries(phases).map(
      ([name, ms]) => `${name.replace(/_ms$/, '')} ${ms.toFixed(1)} ms`,
    );
    return parts.join(', ');
  }

  async #look(): Promise<void> {
    try {
      const signal = this.#stopped.signal;
      const request = await this.client.json<RequestState>(`/v1/requests/${this.id}`, {
        signal,
      });
      if (!signal.aborted) this.line.show(wordsFor(request));
    } catch {
      // Not there before the upload is in, and after the end; the request itself reports
      // a failed answer.
    }
  }
}

const wordsFor = ({ state, position, model }: RequestState): string =>
  state === 'queued' && position !== undefined
    ? `queued: number ${position} in the queue of ${model}`
    : state;

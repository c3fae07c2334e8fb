import { CliError } from './shared/cli-error.js';
import { type GatewayClient } from './shared/gateway-client.js';
import { onSay } from './shared/terminal.js';

const BEAT_MS = 2000;

/**
 * Shows on the console of a gateway which models are on their way. A gateway that does not
 * answer or gives no leave misses this, and nothing else.
 */
export class Arrivals implements Disposable {
  readonly #arrivals = new Map<
    string,
    { line: string; readonly stop: AbortController }
  >();
  readonly #beat = setInterval(() => this.#report(), BEAT_MS);
  #current: string | undefined;

  constructor(
    private readonly client: GatewayClient,
    names: readonly string[],
  ) {
    for (const name of names)
      this.#arrivals.set(name, {
        line: 'waits for its turn',
        stop: new AbortController(),
      });
    onSay(line => {
      const arrival = this.#current && this.#arrivals.get(this.#current);
      if (arrival) arrival.line = line.trim();
    });
    this.#report();
  }

  /** Lines that are said from now on belong to this model. @returns the order to stop it */
  begin(name: string): AbortSignal {
    this.#current = name;
    return this.#arrivals.get(name)!.stop.signal;
  }

  async end(state: 'added' | 'failed', line: string): Promise<void> {
    const name = this.#current!;
    const { stop } = this.#arrivals.get(name)!;
    this.#arrivals.delete(name);
    if (!stop.signal.aborted) await this.#send(name, state, line);
  }

  [Symbol.dispose](): void {
    clearInterval(this.#beat);
  }

  #report(): void {
    for (const [name, { line, stop }] of this.#arrivals)
      void this.#send(name, 'running', line).then(state => {
        if (state === 'cancelled') stop.abort(new CliError('stopped on the console'));
      });
  }

  async #send(name: string, state: 'running' | 'added' | 'failed', line: string) {
    const report = { id: name, body: { state, line } };
    return this.client
      .call('post', '/admin/v1/catalogue/{name}/progress', report)
      .then(addition => addition.state)
      .catch(() => undefined);
  }
}

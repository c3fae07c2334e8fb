import { HttpConnection, type HttpReply } from '../../support/http-connection.js';
import { plainRequest, transcriptionRequest } from '../../support/http-request.js';
import { BENCH_MODEL } from './bench-model.js';

/**
 * One client that sends a request and may change its mind; its cancels go over
 * a second connection.
 */
export class BenchCaller {
  readonly #work: HttpConnection;
  readonly #control: HttpConnection;
  #answered: Promise<HttpReply> | undefined;
  #requestId = '';

  /** @param controlPort of the gateway that is asked to cancel */
  constructor(port: number, controlPort = port) {
    this.#work = new HttpConnection(port);
    this.#control = new HttpConnection(controlPort);
  }

  transcribe(requestId: string, priority: 'realtime' | 'batch'): Promise<HttpReply> {
    this.#requestId = requestId;
    this.#answered = this.#work.exchange(
      transcriptionRequest({ model: BENCH_MODEL, priority, requestId }),
    );
    return this.#answered;
  }

  /** Milliseconds until the cancel was answered and until the request itself was. */
  async cancel(): Promise<{ signalMs: number; callerMs: number }> {
    const startMs = performance.now();
    const sinceStart = (): number => performance.now() - startMs;
    const [signalMs, callerMs] = await Promise.all([
      this.#control
        .exchange(plainRequest('POST', `/v1/requests/${this.#requestId}/cancel`))
        .then(sinceStart),
      this.#answered?.then(sinceStart) ?? 0,
    ]);
    return { signalMs, callerMs };
  }

  /** Breaks the connection of the request; the next request opens another one. */
  leave(): void {
    this.#work.destroy();
  }

  close(): void {
    this.#work.destroy();
    this.#control.destroy();
  }
}

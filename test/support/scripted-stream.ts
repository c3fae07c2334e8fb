import { type StreamEvent } from '@switchyard/worker-protocol/call.codec.js';
import { type StreamHandle } from '../../src/worker-client/stream-handle.js';

/** One stream of a worker: what it gets, and what the test lets it report. */
export class ScriptedStream implements StreamHandle {
  readonly agreement = 3;
  readonly got: string[] = [];
  readonly #finished = Promise.withResolvers<void>();
  readonly finished = this.#finished.promise;
  readonly #reports: (StreamEvent | Error | undefined)[] = [];
  #reported = Promise.withResolvers<void>();
  /** The worker has no room until it is called. */
  full: Promise<void> | undefined;

  /** The worker takes its time to end it: the test calls `end`. */
  isSlow = false;

  /** Its slot is free. */
  end(): void {
    this.#finished.resolve();
  }

  /** @param what undefined: the end */
  report(what?: StreamEvent | Error): void {
    this.#reports.push(what);
    this.#reported.resolve();
  }
  async sendFrame(data: Buffer): Promise<void> {
    this.got.push(`audio ${data.length}`);
    await this.full;
  }
  async commit(): Promise<void> {
    this.got.push('commit');
    await this.full;
  }
  async *receiveEvents(): AsyncGenerator<StreamEvent> {
    for (;;) {
      await this.#reported.promise;
      this.#reported = Promise.withResolvers();
      for (const one of this.#reports.splice(0)) {
        if (one === undefined) return;
        if (one instanceof Error) throw one;
        yield one;
      }
    }
  }
  close(): Promise<void> {
    this.got.push('close');
    return Promise.resolve();
  }
  cancel(): Promise<void> {
    this.got.push('cancel');
    if (!this.isSlow) this.end();
    return Promise.resolve();
  }
}

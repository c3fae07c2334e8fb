import { setImmediate as nextTurn } from 'node:timers/promises';
import { type OnlineRecognizer, type OnlineStream } from './sherpa-library.js';
import { type StreamCounters } from './sherpa-protocol.js';

/**
 * Decodes live streams together: all that are ready when the recogniser is free go through one step of the model, and those
 * whose audio came meanwhile join the next.
 */
export class OnlineDecoding {
  readonly #waiting = new Map<OnlineStream, () => void>();
  #failure: Error | undefined;
  #running = false;
  readonly #counters = { runs: 0, rows: 0, largest: 0 };

  constructor(private readonly recognizer: OnlineRecognizer) {}

  get counters(): StreamCounters {
    return { ...this.#counters };
  }

  /** Resolves when the stream has no more audio to decode. */
  async drain(stream: OnlineStream): Promise<void> {
    await new Promise<void>(resolve => {
      this.#waiting.set(stream, resolve);
      if (!this.#running) void this.#run();
    });
    if (this.#failure) throw this.#failure;
  }

  async #run(): Promise<void> {
    this.#running = true;
    while (this.#waiting.size > 0) {
      await nextTurn();
      this.#step();
    }
    this.#running = false;
  }

  #step(): void {
    try {
      const ready = [...this.#waiting.keys()].filter(stream => this.recognizer.isReady(stream));
      if (ready.length > 0) this.#decode(ready);
      for (const [stream, resolve] of this.#waiting) {
        if (this.recognizer.isReady(stream)) continue;
        this.#waiting.delete(stream);
        resolve();
      }
    } catch (error) {
      this.#failure = error instanceof Error ? error : new Error(String(error));
      for (const resolve of this.#waiting.values()) resolve();
      this.#waiting.clear();
    }
  }

  #decode(streams: readonly OnlineStream[]): void {
    this.recognizer.decodeStreams(streams);
    this.#counters.runs += 1;
    this.#counters.rows += streams.length;
    this.#counters.largest = Math.max(this.#counters.largest, streams.length);
  }
}

import { EngineThread, threadEntry } from '../threads/engine-thread.js';
import { ThreadPool } from '../threads/thread-pool.js';
import { CancelFlag } from '../threads/thread-protocol.js';
import { framesOf, HOP_SAMPLES, type LogMel } from './log-mel.js';
import { type LogMelProtocol, type LogMelThreadData } from './protocol.js';

/** Features of whole audios, computed on threads of their own beside the model and the serving loop. */
export class MelStage {
  readonly #threads: ThreadPool<LogMelProtocol>;
  readonly #running = new Set<CancelFlag>();

  constructor(
    private readonly mels: number,
    private readonly threads: number,
  ) {
    const data: LogMelThreadData = { mels };
    this.#threads = new ThreadPool(
      threads,
      () => new EngineThread({ entry: threadEntry('./log-mel.thread.js', import.meta.url), name: 'log-mel', data }),
    );
  }

  /** Starts all threads, so that the first requests do not wait for them. */
  async start(): Promise<void> {
    const { signal } = new AbortController();
    const silence = Array.from({ length: this.threads }, () => this.extract(new Int16Array(HOP_SAMPLES), signal));
    await Promise.all(silence);
  }

  /** Undefined when `signal` aborted, as soon as the thread has let go: within 10 s of audio, about 20 ms of work. */
  async extract(samples: Int16Array, signal: AbortSignal): Promise<LogMel | undefined> {
    const flag = new CancelFlag();
    const raise = (): void => flag.raise();
    signal.addEventListener('abort', raise, { once: true });
    this.#running.add(flag);
    try {
      if (signal.aborted) return undefined;
      const values = await this.#threads.use(thread => this.#extracted(thread, samples.slice(), flag));
      if (values === undefined) return undefined;
      const contentFrames = Math.floor(samples.length / HOP_SAMPLES);
      return { mels: this.mels, frames: framesOf(samples.length), contentFrames, values };
    } finally {
      this.#running.delete(flag);
      signal.removeEventListener('abort', raise);
    }
  }

  /**
   * Moved there and back: shared memory is not counted by V8 and would stay until the thread happens to collect
   * garbage.
   */
  async #extracted(
    thread: EngineThread<LogMelProtocol>,
    samples: Int16Array<ArrayBuffer>,
    { memory }: CancelFlag,
  ): Promise<Float32Array | undefined> {
    let values: Float32Array | undefined;
    const onNotice = (made: Float32Array): void => void (values = made);
    await thread.call('extract', { samples, cancel: memory }, { transfer: [samples.buffer], onNotice });
    return values;
  }

  async close(): Promise<void> {
    for (const flag of this.#running) flag.raise();
    await this.#threads.close();
  }
}

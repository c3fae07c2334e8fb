import { EngineThread } from '../threads/engine-thread.js';
import { threadEntry } from '../threads/thread-entry.js';
import { CancelFlag } from '../threads/thread-protocol.js';
import { ThreadPool } from '../threads/thread-pool.js';
import { shareSamples } from '../threads/shared-samples.js';
import { framesOf, HOP_SAMPLES, type LogMel } from './log-mel.js';
import { type LogMelProtocol, type LogMelThreadData } from './whisper-protocol.js';

/** Features of whole audios, computed on threads of their own beside the model and the serving loop. */
export class MelStage {
  readonly #threads: ThreadPool<LogMelProtocol>;
  readonly #running = new Set<CancelFlag>();

  constructor(
    private readonly mels: number,
    threads: number,
  ) {
    const data: LogMelThreadData = { mels };
    this.#threads = new ThreadPool(
      threads,
      () => new EngineThread({ entry: threadEntry('./log-mel.thread.js', import.meta.url), name: 'log-mel', data }),
    );
  }

  /** Undefined when `signal` aborted, as soon as the thread has let go: within 10 s of audio, about 20 ms of work. */
  async extract(samples: Int16Array, signal: AbortSignal): Promise<LogMel | undefined> {
    const flag = new CancelFlag();
    const raise = (): void => flag.raise();
    signal.addEventListener('abort', raise, { once: true });
    this.#running.add(flag);
    try {
      const frames = framesOf(samples.length);
      const values = new Float32Array(new SharedArrayBuffer(this.mels * frames * Float32Array.BYTES_PER_ELEMENT));
      const request = { samples: await shareSamples(samples), values, cancel: flag.memory };
      const done = !signal.aborted && (await this.#threads.use(thread => thread.call('extract', request)));
      if (!done) return undefined;
      return { mels: this.mels, frames, contentFrames: Math.floor(samples.length / HOP_SAMPLES), values };
    } finally {
      this.#running.delete(flag);
      signal.removeEventListener('abort', raise);
    }
  }

  async close(): Promise<void> {
    for (const flag of this.#running) flag.raise();
    await this.#threads.close();
  }
}

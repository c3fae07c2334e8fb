import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { foreignEnvironment } from '../../../platform/config/child-environment.js';
import { RestartBackoff } from '../../../platform/process/restart-backoff.js';
import { threadEntry } from '../threads/thread-entry.js';
import { type LlamaOptions } from './llama-options.js';
import { LlamaProcess } from './llama-process.js';

type Operations<O> = Record<keyof O, { readonly request: unknown; readonly reply: unknown }>;

export interface LlamaChildOptions {
  /** Module of the child, beside this one. */
  readonly entry: './llama.child.js' | './llama-embedding.child.js';
  readonly settings: object;
  readonly options: Pick<LlamaOptions, 'loadTimeoutMs' | 'deviceIndex' | 'threads'>;
}

/** A process that ran for so long is sound: the next pause is the shortest again. */
const SOUND_AFTER_MS = 30_000;
const RESTART = { minMs: 100, maxMs: 10_000 };
/** Threads for draws; each is a pass over the vocabulary. */
const MOST_DRAW_THREADS = 16;

/** The native process of an engine, one after another: whoever needs it asks for `current`. */
export class LlamaChild<O extends Operations<O>, Info> {
  readonly #options: LlamaChildOptions;
  readonly #backoff = new RestartBackoff(RESTART);
  #process: LlamaProcess<O, Info> | undefined;
  #readyAtMs = 0;
  #closed: Promise<void> | undefined;

  constructor(options: LlamaChildOptions) {
    this.#options = options;
  }

  /** @throws Error when it was not started, or closed. */
  get current(): LlamaProcess<O, Info> {
    if (this.#process === undefined || this.#closed) throw new Error('The llama.cpp process is closed.');
    return this.#process;
  }

  get pid(): number | undefined {
    return this.#process?.pid;
  }

  /** @throws Error with what to install or where to look. */
  async start(): Promise<Info> {
    const { entry, settings, options } = this.#options;
    this.#process = new LlamaProcess<O, Info>({
      entry: fileURLToPath(threadEntry(entry, import.meta.url)),
      settings,
      env: environment(options),
      loadTimeoutMs: options.loadTimeoutMs,
      onLine: (_, line) => void process.stderr.write(`llama.cpp: ${line}\n`),
    });
    const info = await this.#process.ready;
    this.#readyAtMs = performance.now();
    return info;
  }

  /** Another process, after a pause that doubles to 10 s while they die young. @throws Error as `start`, or closed. */
  async restart(): Promise<Info> {
    this.#process?.kill('it is replaced');
    await this.#process?.exited;
    if (performance.now() - this.#readyAtMs >= SOUND_AFTER_MS) this.#backoff.reset();
    await delay(this.#backoff.nextMs());
    if (this.#closed) throw new Error('The llama.cpp process is closed.');
    return this.start();
  }

  /** Native memory goes with the process. Idempotent. */
  close(): Promise<void> {
    this.#process?.kill('the engine was closed');
    return (this.#closed ??= this.#process?.exited ?? Promise.resolve());
  }
}

function environment({ deviceIndex, threads }: LlamaChildOptions['options']): NodeJS.ProcessEnv {
  return foreignEnvironment({
    UV_THREADPOOL_SIZE: String(Math.min(MOST_DRAW_THREADS, Math.max(4, threads))),
    ...(deviceIndex !== undefined && { CUDA_VISIBLE_DEVICES: String(deviceIndex) }),
  });
}

import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { foreignEnvironment } from '@switchyard/engine-api/process/foreign-environment.js';
import { RestartBackoff } from '@switchyard/engine-api/process/restart-backoff.js';
import { threadEntry } from '@switchyard/engine-api/threads/engine-thread.js';
import { type Operations } from '@switchyard/engine-api/threads/remote-calls.js';
import { type LlamaOptions } from './options.js';
import { LlamaProcess, LlamaProcessGone } from './process.js';

/** A process that ran for so long is sound: the next pause is the shortest again. */
const SOUND_AFTER_MS = 30_000;
const RESTART = { firstMs: 100, longestMs: 10_000 };

/**
 * The native process of an engine, one after another. One that died is replaced by
 * whoever needs it next; all who need it at that time wait for the same one.
 */
export class LlamaChild<O extends Operations<O>, Info> {
  readonly #backoff = new RestartBackoff(RESTART);
  #process: LlamaProcess<O, Info> | undefined;
  #reopening: Promise<void> | undefined;
  #readyAtMs = 0;
  #closed: Promise<void> | undefined;

  /**
   * @param entry module of the child, beside this one
   * @param poolThreads threads of its pool: native runs and draws
   * @param onOpen a process is there, the first one or another: it knows nothing of what
   *   the one before kept
   */
  constructor(
    private readonly entry: './native/generator.child.js' | './native/embedder.child.js',
    private readonly settings: Pick<LlamaOptions, 'loadTimeoutMs' | 'deviceIndex'>,
    private readonly poolThreads: number,
    private readonly onOpen: (info: Info) => void,
  ) {}

  get pid(): number | undefined {
    return this.#process?.pid;
  }

  /** @throws Error with what to install or where to look. */
  async open(): Promise<void> {
    const { settings } = this;
    const { deviceIndex } = settings;
    this.#process = new LlamaProcess<O, Info>({
      entry: fileURLToPath(threadEntry(this.entry, import.meta.url)),
      settings,
      env: foreignEnvironment({
        UV_THREADPOOL_SIZE: String(this.poolThreads),
        ...(deviceIndex !== undefined && { CUDA_VISIBLE_DEVICES: String(deviceIndex) }),
      }),
    });
    this.onOpen(await this.#process.ready);
    this.#readyAtMs = performance.now();
  }

  /**
   * Of the process that is there.
   * @throws LlamaProcessGone when there is none, or it dies
   * @param limitMs as `LlamaProcess`
   */
  async call<K extends keyof O & string>(
    operation: K,
    request: Parameters<O[K]>[0],
    limitMs?: number,
  ): Promise<Awaited<ReturnType<O[K]>>> {
    if (this.#process === undefined || this.#reopening || this.#closed)
      throw new LlamaProcessGone('The llama.cpp process is not open.');
    return this.#process.within(limitMs, operation, request);
  }

  /**
   * As `call`, of another process if this one is gone or dies of it, once.
   * @throws LlamaProcessGone `isOverdue`: it was killed because of this call
   */
  async ask<K extends keyof O & string>(
    operation: K,
    request: Parameters<O[K]>[0],
    limitMs?: number,
  ): Promise<Awaited<ReturnType<O[K]>>> {
    try {
      return await this.call(operation, request, limitMs);
    } catch (error) {
      if (!(error instanceof LlamaProcessGone) || error.isOverdue) throw error;
      await this.reopen();
      return this.call(operation, request, limitMs);
    }
  }

  /**
   * Another process in place of one that is gone, after a pause that doubles to 10 s
   * while they die young.
   * @throws Error as `open`
   */
  async reopen(): Promise<void> {
    if (this.#process?.alive && this.#reopening === undefined) return;
    this.#reopening ??= this.#reopen().finally(() => (this.#reopening = undefined));
    await this.#reopening;
  }

  /** Native memory goes with the process. Idempotent. */
  close(): Promise<void> {
    this.#process?.kill('the engine was closed');
    return (this.#closed ??= this.#process?.exited ?? Promise.resolve());
  }

  async #reopen(): Promise<void> {
    if (performance.now() - this.#readyAtMs >= SOUND_AFTER_MS) this.#backoff.reset();
    await delay(this.#backoff.nextMs());
    if (this.#closed) throw new LlamaProcessGone('The engine was closed.');
    await this.open();
  }
}

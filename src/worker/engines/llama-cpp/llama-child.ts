import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { foreignEnvironment } from '../../../platform/config/process-environment.js';
import { RestartBackoff } from '../../../platform/process/restart-backoff.js';
import { threadEntry } from '../threads/thread-entry.js';
import { type LlamaOptions } from './llama-options.js';
import { LlamaCallOverdue, LlamaProcess, LlamaProcessGone } from './llama-process.js';

type Operations<O> = Record<keyof O, { readonly request: unknown; readonly reply: unknown }>;

export interface LlamaChildOptions<Info> {
  /** Module of the child, beside this one. */
  readonly entry: './llama.child.js' | './llama-embedding.child.js';
  readonly settings: object;
  readonly options: Pick<LlamaOptions, 'loadTimeoutMs' | 'deviceIndex'>;
  /** Threads of its pool: native runs and draws. */
  readonly poolThreads: number;
  /** A process is there, the first one or another: it knows nothing of what the one before kept. */
  readonly onOpen?: (info: Info) => void;
}

/** A process that ran for so long is sound: the next pause is the shortest again. */
const SOUND_AFTER_MS = 30_000;
const RESTART = { firstMs: 100, longestMs: 10_000 };

/**
 * The native process of an engine, one after another. One that died is replaced by whoever needs it next; all who need it at
 * that time wait for the same one.
 */
export class LlamaChild<O extends Operations<O>, Info> {
  readonly #options: LlamaChildOptions<Info>;
  readonly #backoff = new RestartBackoff(RESTART);
  #process: LlamaProcess<O, Info> | undefined;
  #reopening: Promise<void> | undefined;
  #readyAtMs = 0;
  #closed: Promise<void> | undefined;

  constructor(options: LlamaChildOptions<Info>) {
    this.#options = options;
  }

  get pid(): number | undefined {
    return this.#process?.pid;
  }

  /** @throws Error with what to install or where to look. */
  async open(): Promise<void> {
    const { entry, settings, options, poolThreads, onOpen } = this.#options;
    this.#process = new LlamaProcess<O, Info>({
      entry: fileURLToPath(threadEntry(entry, import.meta.url)),
      settings,
      env: environment(poolThreads, options),
      loadTimeoutMs: options.loadTimeoutMs,
      onLine: (_, line) => void process.stderr.write(`llama.cpp: ${line}\n`),
    });
    onOpen?.(await this.#process.ready);
    this.#readyAtMs = performance.now();
  }

  /** Of the process that is there. @throws LlamaProcessGone when there is none, or it dies @param limitMs as `LlamaProcess` */
  async call<K extends keyof O & string>(
    operation: K,
    request: O[K]['request'],
    limitMs?: number,
  ): Promise<O[K]['reply']> {
    if (this.#process === undefined || this.#reopening || this.#closed)
      throw new LlamaProcessGone('The llama.cpp process is not open.');
    return this.#process.call(operation, request, limitMs);
  }

  /** As `call`, of another process if this one is gone or dies of it, once. @throws LlamaCallOverdue: it was killed because of this call */
  async ask<K extends keyof O & string>(
    operation: K,
    request: O[K]['request'],
    limitMs?: number,
  ): Promise<O[K]['reply']> {
    try {
      return await this.call(operation, request, limitMs);
    } catch (error) {
      if (!(error instanceof LlamaProcessGone) || error instanceof LlamaCallOverdue) throw error;
      await this.reopen();
      return this.call(operation, request, limitMs);
    }
  }

  /** Another process in place of one that is gone, after a pause that doubles to 10 s while they die young. @throws Error as `open` */
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

function environment(poolThreads: number, { deviceIndex }: LlamaChildOptions<unknown>['options']): NodeJS.ProcessEnv {
  return foreignEnvironment({
    UV_THREADPOOL_SIZE: String(poolThreads),
    ...(deviceIndex !== undefined && { CUDA_VISIBLE_DEVICES: String(deviceIndex) }),
  });
}

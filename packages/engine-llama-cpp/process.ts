import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { EngineError } from '@switchyard/engine-api/coded-error.js';
import { foreignEnvironment } from '@switchyard/engine-api/process/foreign-environment.js';
import {
  type ProcessExit,
  type ProcessMessage,
  SupervisedProcess,
} from '@switchyard/engine-api/process/child-process.js';
import { RestartBackoff } from '@switchyard/engine-api/process/restart-backoff.js';
import { threadEntry } from '@switchyard/engine-api/threads/engine-thread.js';
import { type LlamaOptions } from './options.js';
import { type FromChild } from './protocol.js';

/** Request and reply of each operation. */
type Operations<O> = Record<
  keyof O,
  { readonly request: unknown; readonly reply: unknown }
>;

interface LlamaChildOptions<Info> {
  /** Module of the child, beside this one. */
  readonly entry: './native/generator.child.js' | './native/embedder.child.js';
  readonly settings: object;
  readonly options: Pick<LlamaOptions, 'loadTimeoutMs' | 'deviceIndex'>;
  /** Threads of its pool: native runs and draws. */
  readonly poolThreads: number;
  /**
   * A process is there, the first one or another: it knows nothing of what the
   * one before kept.
   */
  readonly onOpen?: (info: Info) => void;
}

/** A process that ran for so long is sound: the next pause is the shortest again. */
const SOUND_AFTER_MS = 30_000;
const RESTART = { firstMs: 100, longestMs: 10_000 };

/**
 * The native process of an engine, one after another. One that died is replaced by
 * whoever needs it next; all who need it at that time wait for the same one.
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

  /**
   * Of the process that is there.
   * @throws LlamaProcessGone when there is none, or it dies
   * @param limitMs as `LlamaProcess`
   */
  async call<K extends keyof O & string>(
    operation: K,
    request: O[K]['request'],
    limitMs?: number,
  ): Promise<O[K]['reply']> {
    if (this.#process === undefined || this.#reopening || this.#closed)
      throw new LlamaProcessGone('The llama.cpp process is not open.');
    return this.#process.call(operation, request, limitMs);
  }

  /**
   * As `call`, of another process if this one is gone or dies of it, once.
   * @throws LlamaCallOverdue: it was killed because of this call
   */
  async ask<K extends keyof O & string>(
    operation: K,
    request: O[K]['request'],
    limitMs?: number,
  ): Promise<O[K]['reply']> {
    try {
      return await this.call(operation, request, limitMs);
    } catch (error) {
      if (!(error instanceof LlamaProcessGone) || error instanceof LlamaCallOverdue)
        throw error;
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

function environment(
  poolThreads: number,
  { deviceIndex }: LlamaChildOptions<unknown>['options'],
): NodeJS.ProcessEnv {
  return foreignEnvironment({
    UV_THREADPOOL_SIZE: String(poolThreads),
    ...(deviceIndex !== undefined && { CUDA_VISIBLE_DEVICES: String(deviceIndex) }),
  });
}

interface LlamaProcessOptions {
  /** Compiled module that answers. */
  readonly entry: string;
  /** Its only argument, as JSON. */
  readonly settings: object;
  readonly env: NodeJS.ProcessEnv;
  readonly loadTimeoutMs: number;
  /** What it and the native library write. */
  readonly onLine: (stream: 'stdout' | 'stderr', line: string) => void;
}

interface Pending {
  readonly resolve: (reply: unknown) => void;
  readonly reject: (error: Error) => void;
  readonly timer: NodeJS.Timeout | undefined;
  /** The process is killed because of it. */
  isOverdue: boolean;
}

/**
 * One child process with native code in it, from spawn to exit. It cannot take the worker
 * with it: a crash rejects its calls, one that hangs is killed, and it ends itself when
 * its parent is gone.
 */
export class LlamaProcess<O extends Operations<O>, Info> {
  readonly ready: Promise<Info>;
  readonly exited: Promise<void>;
  readonly #process: SupervisedProcess;
  #opened!: { resolve(info: Info): void; reject(error: Error): void };
  readonly #pending = new Map<number, Pending>();
  #nextId = 0;
  #gone: Error | undefined;

  constructor({ entry, settings, env, loadTimeoutMs, onLine }: LlamaProcessOptions) {
    this.ready = new Promise<Info>(
      (resolve, reject) => (this.#opened = { resolve, reject }),
    );
    this.ready.catch(() => undefined);
    const timer = setTimeout(
      () => this.kill(`it was not loaded within ${loadTimeoutMs} ms`),
      loadTimeoutMs,
    );
    const settled = (): void => clearTimeout(timer);
    this.ready.then(settled, settled);
    let resolveExited = (): void => undefined;
    this.exited = new Promise<void>(resolve => (resolveExited = resolve));
    this.#process = new SupervisedProcess({
      ...{
        command: process.execPath,
        args: [entry, JSON.stringify(settings)],
        env,
        serialization: 'advanced',
      },
      // Nothing is worth finishing; its parent may itself have been killed seconds
      // after the gateway.
      orphanLimitMs: 0,
      onMessage: message => this.#receive(message),
      onExit: exit => {
        this.#die(exit);
        resolveExited();
      },
      onLine,
    });
  }

  get pid(): number | undefined {
    return this.#process.pid;
  }

  get alive(): boolean {
    return this.#gone === undefined;
  }

  /**
   * @param limitMs after which a process that has not answered is taken as hung and
   *   killed; absent: waits
   */
  call<K extends keyof O & string>(
    operation: K,
    request: O[K]['request'],
    limitMs?: number,
  ): Promise<O[K]['reply']> {
    if (this.#gone) return Promise.reject(this.#gone);
    const id = this.#nextId++;
    const timer =
      limitMs === undefined
        ? undefined
        : setTimeout(() => this.#overdue(id, operation, limitMs), limitMs);
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { resolve, reject, timer, isOverdue: false });
      this.#process.send({ id, operation, request });
    });
  }

  kill(reason: string): void {
    this.#process.kill(reason);
  }

  #overdue(id: number, operation: string, limitMs: number): void {
    const call = this.#pending.get(id);
    if (call) call.isOverdue = true;
    this.kill(`${operation} took more than ${limitMs} ms`);
  }

  #receive(message: ProcessMessage): void {
    const told = message as FromChild<Info>;
    if (told.type === 'ready') return this.#opened.resolve(told.info);
    if (told.type === 'failed') return;
    const call = this.#pending.get(told.id);
    this.#pending.delete(told.id);
    if (call === undefined) return;
    clearTimeout(call.timer);
    if (told.type === 'reply') call.resolve(told.reply);
    else if (told.type === 'refused')
      call.reject(
        new EngineError(
          told.code,
          told.message,
          told.param === undefined ? {} : { param: told.param },
        ),
      );
    else call.reject(new EngineError('engine_failed', `llama.cpp: ${told.message}`));
  }

  #die({ code, signal, reason, lines }: ProcessExit): void {
    const why = reason ?? `it ended with ${signal ?? `code ${code}`}`;
    const said = lines.filter(line => !STACK_FRAME.test(line)).slice(-3);
    const last =
      reason === undefined && said.length > 0
        ? `; its last words: ${said.join(' | ')}`
        : '';
    this.#gone = new LlamaProcessGone(`The llama.cpp process is gone: ${why}${last}`);
    this.#opened.reject(this.#gone);
    for (const { reject, timer, isOverdue } of this.#pending.values()) {
      clearTimeout(timer);
      reject(isOverdue ? new LlamaCallOverdue(this.#gone.message) : this.#gone);
    }
    this.#pending.clear();
  }
}

/** Of a native abort: `/lib/libc.so.6(+0x9cb84)[0x7fbc15e9cb84]`. */
const STACK_FRAME = /\[0x[\da-f]+\]$/;

/** With all that it kept. */
export class LlamaProcessGone extends EngineError {
  constructor(message: string) {
    super('engine_failed', message);
  }
}

/**
 * The process was killed because this call did not come to an end; it would not in
 * another one either.
 */
export class LlamaCallOverdue extends LlamaProcessGone {}

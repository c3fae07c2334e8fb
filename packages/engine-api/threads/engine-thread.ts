import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type Transferable, Worker } from 'node:worker_threads';
import { EngineError } from '../coded-error.js';
import { DeviceGone } from '../engine.js';
import {
  type FromThread,
  type Operation,
  type ThreadProtocol,
  type ToThread,
} from './thread-protocol.js';

/**
 * Where the entry module of a thread lies, seen from the module that starts it.
 *
 * Compiled, it is a neighbour. Under jest the sources run as TypeScript, which a worker
 * thread cannot load, so the compiled neighbour in `dist` is used: `npm test` builds
 * first (README of this folder, "Threads and tests").
 */
export function threadEntry(relativePath: string, moduleUrl: string): URL {
  const entry = new URL(relativePath, moduleUrl);
  if (!moduleUrl.endsWith('.ts')) return entry;
  const compiled = new URL(
    entry.href.replace(
      /^(.*)\/(src|packages)\//,
      (_, product: string, root) =>
        `${product}/dist/${root === 'src' ? '' : 'node_modules/@switchyard/'}`,
    ),
  );
  if (existsSync(fileURLToPath(compiled))) return compiled;
  throw new Error(
    `${fileURLToPath(compiled)} is missing: engine threads run compiled code; run \`npm run build\``,
  );
}

interface EngineThreadOptions {
  /** Compiled module that calls `serveThread`. */
  readonly entry: URL;
  /** Shown in stack traces and process listings. */
  readonly name: string;
  readonly data: unknown;
}

interface CallOptions<Notice> {
  readonly transfer?: readonly Transferable[];
  readonly onNotice?: (notice: Notice) => void;
}

interface PendingCall {
  resolve(reply: unknown): void;
  reject(error: Error): void;
  onNotice?(notice: unknown): void;
}

/**
 * The serving side's half of one thread of native work. Calls are answered in order. A
 * thread that dies fails its own calls and nothing else; whoever owns it starts another.
 */
export class EngineThread<P extends ThreadProtocol<P>, Info = unknown> {
  /**
   * Resolves once the models are loaded; rejects with what to install or where to look.
   */
  readonly ready: Promise<Info>;
  readonly #worker: Worker;
  readonly #exited: Promise<void>;
  readonly #pending = new Map<number, PendingCall>();
  readonly #name: string;
  #opened!: { resolve(info: Info): void; reject(error: Error): void };
  #nextId = 0;
  #dead: Error | undefined;

  constructor(options: EngineThreadOptions) {
    this.#name = options.name;
    this.ready = new Promise<Info>(
      (resolve, reject) => (this.#opened = { resolve, reject }),
    );
    // A failed start is reported to whoever awaits `ready`; that may be later.
    this.ready.catch(() => undefined);
    this.#worker = new Worker(options.entry, {
      name: options.name,
      workerData: options.data,
    });
    this.#worker.on('message', (message: FromThread<Info>) => this.#receive(message));
    this.#worker.on('error', error => this.#die(error as Error));
    this.#exited = new Promise(resolve => {
      this.#worker.once('exit', code => {
        this.#die(new Error(`it ended with code ${code}`));
        resolve();
      });
    });
  }

  get alive(): boolean {
    return this.#dead === undefined;
  }

  call<K extends Operation<P>>(
    operation: K,
    request: P[K]['request'],
    options: CallOptions<P[K]['notice']> = {},
  ): Promise<P[K]['reply']> {
    if (this.#dead) return Promise.reject(this.#dead);
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { resolve, reject, onNotice: options.onNotice });
      this.#worker.postMessage(
        { type: 'call', id, operation, request },
        options.transfer ?? [],
      );
    });
  }

  /**
   * Lets the running call end, frees native memory on the thread, and resolves when the
   * thread is gone. Idempotent.
   */
  close(): Promise<void> {
    const message: ToThread<P> = { type: 'close' };
    if (this.#dead === undefined) this.#worker.postMessage(message);
    return this.#exited;
  }

  #receive(message: FromThread<Info>): void {
    if (message.type === 'ready') return this.#opened.resolve(message.info);
    if (message.type === 'unavailable')
      return this.#opened.reject(new Error(message.message));
    const call = this.#pending.get(message.id);
    if (call === undefined) return;
    if (message.type === 'notice') return call.onNotice?.(message.notice);
    this.#pending.delete(message.id);
    if (message.type === 'reply') call.resolve(message.reply);
    else
      call.reject(new EngineError('engine_failed', `${this.#name}: ${message.message}`));
  }

  #die(cause: Error): void {
    if (this.#dead) return;
    this.#dead = new DeviceGone(`The thread ${this.#name} is gone: ${cause.message}`, {
      cause,
      code: 'worker_crashed',
    });
    this.#opened.reject(this.#dead);
    for (const call of this.#pending.values()) call.reject(this.#dead);
    this.#pending.clear();
  }
}

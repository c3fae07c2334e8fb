import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { DeviceGone } from '../engine.js';
import { type NativeThread, RemoteCalls } from './remote-calls.js';

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

/**
 * The serving side's half of one thread of native work. Calls are answered in order. A
 * thread that dies fails its own calls and nothing else; whoever owns it starts another.
 */
export class EngineThread<T extends NativeThread<T['calls']>> extends RemoteCalls<
  T['calls'],
  T['info']
> {
  readonly #worker: Worker;
  readonly #exited = Promise.withResolvers<void>();

  /**
   * @param entry compiled module that calls `serveThread`
   * @param name shown in stack traces and process listings
   */
  constructor(entry: URL, name: string, workerData?: T['data']) {
    const worker = new Worker(entry, { name, workerData });
    super(name, (call, transfer) => worker.postMessage(call, transfer));
    this.#worker = worker;
    const die = (cause: Error): void =>
      this.end(
        new DeviceGone(`The thread ${name} is gone: ${cause.message}`, {
          cause,
          code: 'worker_crashed',
        }),
      );
    worker.on('message', (message: object) => this.receive(message));
    worker.on('error', error => die(error as Error));
    worker.once('exit', code => {
      die(new Error(`it ended with code ${code}`));
      this.#exited.resolve();
    });
  }

  /**
   * Lets the running call end, frees native memory on the thread, and resolves when the
   * thread is gone. Idempotent.
   */
  close(): Promise<void> {
    if (this.alive) this.#worker.postMessage('close');
    return this.#exited.promise;
  }
}

import { EngineError } from '@switchyard/engine-api/coded-error.js';
import {
  type ProcessExit,
  SupervisedProcess,
} from '@switchyard/engine-api/process/child-process.js';
import { type Operations, RemoteCalls } from '@switchyard/engine-api/threads/remote-calls.js';
import { type LlamaOptions } from './options.js';

/**
 * One child process with native code in it, from spawn to exit. It cannot take the worker
 * with it: a crash rejects its calls, one that hangs is killed, and it ends itself when
 * its parent is gone.
 */
export class LlamaProcess<O extends Operations<O>, Info> extends RemoteCalls<O, Info> {
  readonly #exited = Promise.withResolvers<void>();
  readonly exited = this.#exited.promise;
  readonly #process: SupervisedProcess;

  constructor({
    entry,
    settings,
    env,
  }: {
    /** Compiled module that runs in the child process. */
    readonly entry: string;
    /** Its only argument, as JSON. */
    readonly settings: Pick<LlamaOptions, 'loadTimeoutMs'>;
    readonly env: NodeJS.ProcessEnv;
  }) {
    super('llama.cpp', call => this.#process.send(call));
    const { loadTimeoutMs } = settings;
    const timer = setTimeout(
      () => this.kill(`it was not loaded within ${loadTimeoutMs} ms`),
      loadTimeoutMs,
    );
    const settled = (): void => clearTimeout(timer);
    this.ready.then(settled, settled);
    this.#process = new SupervisedProcess({
      command: process.execPath,
      args: [entry, JSON.stringify(settings)],
      env,
      serialization: 'advanced',
      // Nothing is worth finishing; its parent may itself have been killed seconds
      // after the gateway.
      orphanLimitMs: 0,
      // One that cannot load says so with its exit.
      onMessage: message => message.type === 'failed' || this.receive(message),
      onExit: exit => {
        this.end(goneBy(exit));
        this.#exited.resolve();
      },
      onLine: (_, line) => {
        if (!OF_STOPPED_RUN.test(line)) process.stderr.write(`llama.cpp: ${line}\n`);
      },
    });
  }

  get pid(): number | undefined {
    return this.#process.pid;
  }

  /**
   * A call.
   * @param limitMs after which a process that has not answered is taken as hung and
   *   killed; absent: waits
   */
  async within<K extends keyof O & string>(
    limitMs: number | undefined,
    operation: K,
    request: Parameters<O[K]>[0],
  ): Promise<Awaited<ReturnType<O[K]>>> {
    if (limitMs === undefined) return this.call(operation, request);
    let isOverdue = false;
    const timer = setTimeout(() => {
      isOverdue = true;
      this.kill(`${operation} took more than ${limitMs} ms`);
    }, limitMs);
    try {
      return await this.call(operation, request);
    } catch (error) {
      if (isOverdue && error instanceof LlamaProcessGone)
        throw new LlamaProcessGone(error.message, true);
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  kill(reason: string): void {
    this.#process.kill(reason);
  }
}

function goneBy({ code, signal, reason, lines }: ProcessExit): LlamaProcessGone {
  const why = reason ?? `it ended with ${signal ?? `code ${code}`}`;
  const said = lines.filter(line => !STACK_FRAME.test(line)).slice(-3);
  const last =
    reason === undefined && said.length > 0 ? `; its last words: ${said.join(' | ')}` : '';
  return new LlamaProcessGone(`The llama.cpp process is gone: ${why}${last}`);
}

/** Lines that llama.cpp writes about a run that `RunStop` ended. */
const OF_STOPPED_RUN =
  /graph_compute_async failed with error 1$|compute status: 1$|removing memory module entries|failed to (?:de|en)code, ret = 2$/;

/** A line of a native abort: `/lib/libc.so.6(+0x9cb84)[0x7fbc15e9cb84]`. */
const STACK_FRAME = /\[0x[\da-f]+\]$/;

/** The process ended, and its KV memory with it. */
export class LlamaProcessGone extends EngineError {
  readonly #isOverdue: boolean;

  /**
   * @param isOverdue the process was killed because this call did not come to an end; it
   *   would not in another one either
   */
  constructor(message: string, isOverdue = false) {
    super('engine_failed', message);
    this.#isOverdue = isOverdue;
  }

  get isOverdue(): boolean {
    return this.#isOverdue;
  }
}

import { DomainError } from '../../../core/shared/domain-error.js';
import { type ProcessExit, type ProcessMessage, SupervisedProcess } from '../../../platform/process/child-process.js';
import { type FromChild } from './llama-protocol.js';

/** Request and reply of each operation. */
type Operations<O> = Record<keyof O, { readonly request: unknown; readonly reply: unknown }>;

export interface LlamaProcessOptions {
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
 * One child process with native code in it, from spawn to exit. It cannot take the worker with it: a crash rejects its calls,
 * one that hangs is killed, and it ends itself when its parent is gone.
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
    this.ready = new Promise<Info>((resolve, reject) => (this.#opened = { resolve, reject }));
    this.ready.catch(() => undefined);
    const timer = setTimeout(() => this.kill(`it was not loaded within ${loadTimeoutMs} ms`), loadTimeoutMs);
    const settled = (): void => clearTimeout(timer);
    this.ready.then(settled, settled);
    let resolveExited = (): void => undefined;
    this.exited = new Promise<void>(resolve => (resolveExited = resolve));
    this.#process = new SupervisedProcess({
      ...{ command: process.execPath, args: [entry, JSON.stringify(settings)], env, serialization: 'advanced' },
      // Nothing is worth finishing; its parent may itself have been killed seconds after the gateway.
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

  /** @param limitMs after which a process that has not answered is taken as hung and killed; absent: waits */
  call<K extends keyof O & string>(operation: K, request: O[K]['request'], limitMs?: number): Promise<O[K]['reply']> {
    if (this.#gone) return Promise.reject(this.#gone);
    const id = this.#nextId++;
    const timer = limitMs === undefined ? undefined : setTimeout(() => this.#overdue(id, operation, limitMs), limitMs);
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
      call.reject(new DomainError(told.code, told.message, told.param === undefined ? {} : { param: told.param }));
    else call.reject(new DomainError('engine_failed', `llama.cpp: ${told.message}`));
  }

  #die({ code, signal, reason, lines }: ProcessExit): void {
    const why = reason ?? `it ended with ${signal ?? `code ${code}`}`;
    const last = reason === undefined && lines.length > 0 ? `; its last words: ${lines.slice(-3).join(' | ')}` : '';
    this.#gone = new LlamaProcessGone(`The llama.cpp process is gone: ${why}${last}`);
    this.#opened.reject(this.#gone);
    for (const { reject, timer, isOverdue } of this.#pending.values()) {
      clearTimeout(timer);
      reject(isOverdue ? new LlamaCallOverdue(this.#gone.message) : this.#gone);
    }
    this.#pending.clear();
  }
}

/** With all that it kept. */
export class LlamaProcessGone extends DomainError {
  constructor(message: string) {
    super('engine_failed', message);
  }
}

/** The process was killed because this call did not come to an end; it would not in another one either. */
export class LlamaCallOverdue extends LlamaProcessGone {}

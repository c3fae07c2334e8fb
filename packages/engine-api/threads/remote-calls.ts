import { type Transferable } from 'node:worker_threads';
import { EngineError, type EngineErrorCode } from '../coded-error.js';
import { errorMessage } from '../error-message.js';

/** Tells the caller something before the reply. */
export type Notify<Notice> = (notice: Notice, transfer?: readonly Transferable[]) => void;

/** What a thread or a child process answers: functions of a request, and of notices. */
export type Operations<P> = Record<keyof P, (request: never, notify: never) => unknown>;

type Request<P extends Operations<P>, K extends keyof P> = Parameters<P[K]>[0];
type Reply<P extends Operations<P>, K extends keyof P> = Awaited<ReturnType<P[K]>>;

export interface RemoteCall {
  readonly id: number;
  readonly operation: string;
  readonly request: unknown;
}

/** What the serving side says. */
export type FromRemote<Info> =
  | { readonly type: 'ready'; readonly info: Info }
  /** It cannot load. */
  | { readonly type: 'failed'; readonly message: string }
  | { readonly type: 'notice'; readonly id: number; readonly notice: unknown }
  | { readonly type: 'reply'; readonly id: number; readonly reply: unknown }
  /** With a code it is the caller's mistake. */
  | {
      readonly type: 'error';
      readonly id: number;
      readonly message: string;
      readonly code?: EngineErrorCode;
      readonly param?: string;
    };

interface CallOptions<P extends Operations<P>, K extends keyof P> {
  readonly transfer?: readonly Transferable[];
  readonly onNotice?: Parameters<P[K]>[1];
}

/** Calls to native code on a thread or in a process, until it is gone. */
export class RemoteCalls<P extends Operations<P>, Info> {
  readonly #opened = Promise.withResolvers<Info>();
  /** Resolves once it is loaded; rejects with what to install or where to look. */
  readonly ready = this.#opened.promise;
  readonly #pending = new Map<
    number,
    {
      readonly resolve: (reply: never) => void;
      readonly reject: (error: Error) => void;
      readonly onNotice?: (notice: never) => void;
    }
  >();
  #nextId = 0;
  #gone: Error | undefined;

  constructor(
    private readonly name: string,
    private readonly post: (call: RemoteCall, transfer?: readonly Transferable[]) => void,
  ) {
    // A failed start is reported to whoever awaits `ready`; that may be later.
    this.ready.catch(() => undefined);
  }

  get alive(): boolean {
    return this.#gone === undefined;
  }

  call<K extends keyof P & string>(
    operation: K,
    request: Request<P, K>,
    { transfer, onNotice }: CallOptions<P, K> = {},
  ): Promise<Reply<P, K>> {
    if (this.#gone) return Promise.reject(this.#gone);
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { resolve, reject, onNotice });
      this.post({ id, operation, request }, transfer);
    });
  }

  receive(message: FromRemote<Info>): void {
    if (message.type === 'ready') return this.#opened.resolve(message.info);
    if (message.type === 'failed') return this.#opened.reject(new Error(message.message));
    const call = this.#pending.get(message.id);
    if (call === undefined) return;
    if (message.type === 'notice') return call.onNotice?.(message.notice as never);
    this.#pending.delete(message.id);
    if (message.type === 'reply') return call.resolve(message.reply as never);
    const { code, param } = message;
    call.reject(
      code === undefined
        ? new EngineError('engine_failed', `${this.name}: ${message.message}`)
        : new EngineError(code, message.message, { param }),
    );
  }

  /** All calls that wait for an answer fail with it, and all that come. */
  end(error: Error): void {
    if (this.#gone) return;
    this.#gone = error;
    this.#opened.reject(error);
    for (const { reject } of this.#pending.values()) reject(error);
    this.#pending.clear();
  }
}

/** The serving half of one call. An EngineError crosses as it is. */
export async function answerCall(
  operations: Operations<unknown>,
  { id, operation, request }: RemoteCall,
  send: (message: FromRemote<never>, transfer?: readonly Transferable[]) => void,
): Promise<void> {
  const answers = operations as Readonly<
    Record<string, (request: unknown, notify: Notify<unknown>) => unknown>
  >;
  try {
    const answer = answers[operation];
    if (answer === undefined) throw new Error(`There is no operation ${operation}.`);
    const notify: Notify<unknown> = (notice, transfer) =>
      send({ type: 'notice', id, notice }, transfer);
    send({ type: 'reply', id, reply: await answer(request, notify) });
  } catch (error) {
    const { code, param } = error instanceof EngineError ? error : {};
    send({ type: 'error', id, message: errorMessage(error), code, param });
  }
}

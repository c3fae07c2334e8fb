import { parentPort, type Transferable, workerData } from 'node:worker_threads';
import { EngineError } from '../coded-error.js';
import { errorMessage } from '../error-message.js';

/** Sends a notice to the caller before the reply. */
export type Notify<Notice> = (notice: Notice, transfer?: readonly Transferable[]) => void;

/** What a thread or a child process answers: functions of a request, and of notices. */
export type Operations<P> = Record<keyof P, (request: never, notify: never) => unknown>;

/** A thread of native code, as both sides see it. */
export interface NativeThread<Calls> {
  /** Data with which the thread is started. */
  readonly data: unknown;
  /** Sent by the thread once native code and models are loaded. */
  readonly info: unknown;
  readonly calls: Operations<Calls>;
}

interface RemoteCall {
  readonly id: number;
  readonly operation: string;
  readonly request: unknown;
}

/** A message of the serving side. */
type FromRemote<Info> =
  | { readonly type: 'ready'; readonly info: Info }
  /** The thread could not load its native code or model. */
  | { readonly type: 'failed'; readonly message: string }
  | { readonly type: 'notice'; readonly id: number; readonly notice: unknown }
  | { readonly type: 'reply'; readonly id: number; readonly reply: unknown }
  /** The call failed; a `code` means that its input is at fault. */
  | {
      readonly type: 'error';
      readonly id: number;
      readonly message: string;
      readonly code?: EngineError['code'];
      readonly param?: string;
    };

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
    request: Parameters<P[K]>[0],
    {
      transfer,
      onNotice,
    }: {
      readonly transfer?: readonly Transferable[];
      readonly onNotice?: Parameters<P[K]>[1];
    } = {},
  ): Promise<Awaited<ReturnType<P[K]>>> {
    if (this.#gone) return Promise.reject(this.#gone);
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { resolve, reject, onNotice });
      this.post({ id, operation, request }, transfer);
    });
  }

  /** @param from a message of the serving side */
  receive(from: object): void {
    const message = from as FromRemote<Info>;
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

/** Serves one call. An EngineError is passed on with its code. */
async function answerCall(
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

interface ThreadService<T extends NativeThread<T['calls']>> {
  readonly info: T['info'];
  readonly operations: T['calls'];
  /** Frees native memory; the last call. */
  close(): void;
}

/**
 * The thread's half: opens the service, then answers calls one after another. Where
 * the work is synchronous native code, order is the order of the messages; operations
 * that answer later run side by side. A close waits for all of them: nothing is freed
 * while in use.
 */
export async function serveThread<T extends NativeThread<T['calls']>>(
  open: (data: T['data']) => ThreadService<T> | Promise<ThreadService<T>>,
): Promise<void> {
  const port = parentPort;
  if (port === null)
    throw new Error('This module is the entry of an engine thread; it cannot run on its own.');
  const send = (message: FromRemote<T['info']>, transfer: readonly Transferable[] = []): void =>
    port.postMessage(message, transfer);
  let service: ThreadService<T>;
  try {
    service = await open(workerData as T['data']);
  } catch (error) {
    return send({ type: 'failed', message: errorMessage(error) });
  }
  const running = new Set<Promise<void>>();
  const close = async (): Promise<void> => {
    await Promise.all(running);
    service.close();
    port.close();
  };
  port.on('message', (message: RemoteCall | 'close') => {
    if (message === 'close') return void close();
    const answered = answerCall(service.operations, message, send).finally(() =>
      running.delete(answered),
    );
    running.add(answered);
  });
  send({ type: 'ready', info: service.info });
}

/**
 * The child's half: loads, says `ready`, answers calls side by side. It ends with its
 * parent, at once and whatever native code is running.
 */
export async function serveChild<Settings, P extends Operations<P>, Info>(
  open: (settings: Settings) => Promise<{ readonly info: Info; readonly operations: P }>,
): Promise<void> {
  process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));
  // Ctrl-C reaches the whole process group of a terminal; the worker decides.
  process.on('SIGINT', () => undefined);
  const send = (message: FromRemote<Info>, sent = (): void => undefined): void =>
    void process.send?.(message, sent);
  const settings = JSON.parse(process.argv[2] ?? '{}') as Settings;
  let service: Awaited<ReturnType<typeof open>>;
  try {
    service = await open(settings);
  } catch (error) {
    return send({ type: 'failed', message: errorMessage(error) }, () => process.exit(1));
  }
  process.on('message', (call: RemoteCall) => {
    void answerCall(service.operations, call, message => send(message));
  });
  send({ type: 'ready', info: service.info });
}

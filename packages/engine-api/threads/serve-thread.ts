import { type MessagePort, parentPort, type Transferable } from 'node:worker_threads';
import {
  type FromThread,
  type Operation,
  type ThreadProtocol,
  type ToThread,
} from './thread-protocol.js';
import { errorMessage } from '../error-message.js';

type Notify<Notice> = (notice: Notice, transfer?: readonly Transferable[]) => void;

interface ThreadService<P extends ThreadProtocol<P>, Info> {
  /** Told to the serving side once native code and models are loaded. */
  readonly info: Info;
  readonly operations: {
    readonly [K in Operation<P>]: (
      request: P[K]['request'],
      notify: Notify<P[K]['notice']>,
    ) => P[K]['reply'] | Promise<P[K]['reply']>;
  };
  /** Frees native memory; the last call. */
  close(): void | Promise<void>;
}

type Open<P extends ThreadProtocol<P>, Info> = () =>
  ThreadService<P, Info> | Promise<ThreadService<P, Info>>;

/**
 * The thread's half: opens the service, then answers calls one after another. Where
 * the work is synchronous native code, order is the order of the messages; operations
 * that answer later run side by side. A close waits for all of them: nothing is freed
 * while in use.
 */
export function serveThread<P extends ThreadProtocol<P>, Info>(
  open: Open<P, Info>,
): void {
  if (parentPort === null)
    throw new Error(
      'This module is the entry of an engine thread; it cannot run on its own.',
    );
  void serve(parentPort, open);
}

type Call<P extends ThreadProtocol<P>> = Extract<ToThread<P>, { type: 'call' }>;

async function serve<P extends ThreadProtocol<P>, Info>(
  port: MessagePort,
  open: Open<P, Info>,
): Promise<void> {
  const send = (
    message: FromThread<Info>,
    transfer: readonly Transferable[] = [],
  ): void => port.postMessage(message, transfer);
  let service: ThreadService<P, Info>;
  try {
    service = await open();
  } catch (error) {
    send({ type: 'unavailable', message: errorMessage(error) });
    return;
  }
  const running = new Set<Promise<void>>();
  const answer = async ({ id, operation, request }: Call<P>): Promise<void> => {
    try {
      const notify: Notify<unknown> = (notice, transfer) =>
        send({ type: 'notice', id, notice }, transfer);
      const reply = await service.operations[operation](request, notify);
      send({ type: 'reply', id, reply });
    } catch (error) {
      send({ type: 'failed', id, message: errorMessage(error) });
    }
  };
  const close = async (): Promise<void> => {
    await Promise.all(running);
    await service.close();
    port.close();
  };
  port.on('message', (message: ToThread<P>) => {
    if (message.type === 'close') return void close();
    const answered = answer(message).finally(() => running.delete(answered));
    running.add(answered);
  });
  send({ type: 'ready', info: service.info });
}

import { parentPort, type Transferable } from 'node:worker_threads';
import { type FromThread, type Operation, type ThreadProtocol, type ToThread } from './thread-protocol.js';

type Notify<Notice> = (notice: Notice, transfer?: readonly Transferable[]) => void;

export interface ThreadService<P extends ThreadProtocol<P>, Info> {
  /** Told to the serving side once native code and models are loaded. */
  readonly info: Info;
  readonly operations: {
    readonly [K in Operation<P>]: (request: P[K]['request'], notify: Notify<P[K]['notice']>) => P[K]['reply'];
  };
  /** Frees native memory; the last call. */
  close(): void;
}

/**
 * The thread's half: opens the service, then answers calls one after another. The work is synchronous native code,
 * so order is the order of the messages and a close is heard only between calls: nothing is freed while in use.
 */
export function serveThread<P extends ThreadProtocol<P>, Info>(open: () => ThreadService<P, Info>): void {
  const port = parentPort;
  if (port === null) throw new Error('This module is the entry of an engine thread; it cannot run on its own.');
  const send = (message: FromThread<Info>, transfer: readonly Transferable[] = []): void =>
    port.postMessage(message, transfer);
  let service: ThreadService<P, Info>;
  try {
    service = open();
  } catch (error) {
    send({ type: 'unavailable', message: messageOf(error) });
    return;
  }
  port.on('message', (message: ToThread<P>) => {
    if (message.type === 'close') {
      service.close();
      port.close();
      return;
    }
    const { id, operation, request } = message;
    try {
      const notify: Notify<unknown> = (notice, transfer) => send({ type: 'notice', id, notice }, transfer);
      send({ type: 'reply', id, reply: service.operations[operation](request, notify) });
    } catch (error) {
      send({ type: 'failed', id, message: messageOf(error) });
    }
  });
  send({ type: 'ready', info: service.info });
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

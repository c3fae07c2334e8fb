import { parentPort, type Transferable } from 'node:worker_threads';
import { errorMessage } from '../error-message.js';
import {
  answerCall,
  type FromRemote,
  type Operations,
  type RemoteCall,
} from './remote-calls.js';

interface ThreadService<P extends Operations<P>, Info> {
  /** Told to the serving side once native code and models are loaded. */
  readonly info: Info;
  readonly operations: P;
  /** Frees native memory; the last call. */
  close(): void;
}

/**
 * The thread's half: opens the service, then answers calls one after another. Where
 * the work is synchronous native code, order is the order of the messages; operations
 * that answer later run side by side. A close waits for all of them: nothing is freed
 * while in use.
 */
export async function serveThread<P extends Operations<P>, Info = undefined>(
  open: () => ThreadService<P, Info> | Promise<ThreadService<P, Info>>,
): Promise<void> {
  const port = parentPort;
  if (port === null)
    throw new Error(
      'This module is the entry of an engine thread; it cannot run on its own.',
    );
  const send = (
    message: FromRemote<Info>,
    transfer: readonly Transferable[] = [],
  ): void => port.postMessage(message, transfer);
  let service: ThreadService<P, Info>;
  try {
    service = await open();
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

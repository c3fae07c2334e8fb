import { sendToParent } from '@switchyard/engine-api/process/parent-loss.js';

/** Messages of a worker to the process that started it, over Node's IPC channel. */
type WorkerMessage =
  | { readonly type: 'listening'; readonly port: number }
  /** It loads, or the worker behind it, if it is a bridge, takes no work yet. */
  | {
      readonly type: 'waiting';
      readonly message: string;
      readonly isProblem: boolean;
      /** The worker starts and makes progress, so that its supervisor waits on. */
      readonly isStarting?: boolean | undefined;
    }
  | { readonly type: 'ready' }
  | { readonly type: 'failed'; readonly message: string };

/**
 * Resolves when the message was sent, or cannot be: a worker that was started by hand
 * has no supervisor, and sends nothing.
 */
export const reportToSupervisor = (message: WorkerMessage) => sendToParent(process, message);

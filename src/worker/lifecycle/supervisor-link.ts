import {
  onParentLost,
  type ParentedProcess,
  sendToParent,
} from '../../platform/process/parent-loss.js';

/** Messages of a worker to the process that started it, over Node's IPC channel. */
export type WorkerMessage =
  | { readonly type: 'listening'; readonly port: number }
  /** Of a bridge: the worker behind it takes no work yet. */
  | { readonly type: 'waiting'; readonly message: string; readonly isProblem: boolean }
  | { readonly type: 'ready' }
  | { readonly type: 'failed'; readonly message: string };

/**
 * The link to the supervising gateway. A worker that was started by hand has none,
 * and sends nothing.
 */
export class SupervisorLink {
  readonly supervised: boolean;

  constructor(private readonly ipc: ParentedProcess) {
    this.supervised = ipc.send !== undefined && ipc.connected === true;
  }

  /**
   * Resolves when the message was sent, or cannot be: the supervisor's death is seen
   * as a disconnect.
   */
  report(message: WorkerMessage): Promise<void> {
    return sendToParent(this.ipc, message);
  }

  /** Calls `lost` when the supervisor is gone: no worker outlives its gateway. */
  onLost(lost: () => void): void {
    onParentLost(this.ipc, lost);
  }
}
